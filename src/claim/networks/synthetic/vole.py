"""Vole-like networks: animals that live near one another at the same time meet."""

import numpy as np

from claim.networks.network import FloatArray, Network
from claim.networks.synthetic.ties import Ties, skewed,uniform,weighted

def vole_like(people, mean_degree, rng, *, per_year=200, turnover=1.0, winter=0.5, roaming=.3, cycle=0.5, dispersal=.05,farthest=3.5,name="vole-like"):
    ties = Ties(people, mean_degree)
    place = _homes(people, rng, per_year, turnover, winter, cycle)
    window=min(people-1,max(per_year, 8*int(mean_degree)))
    one, other, apart = _pairs_alive_together(place, np.minimum(skewed(rng,roaming,people),farthest), window)
    order = np.argsort(apart, kind="stable")
    one, other = one[order], other[order]
    both = np.stack([one, other], axis=1).ravel()
    first = np.unique(both, return_index=True)[1] // 2
    first = np.sort(first)
    ties.add(one[first], other[first])
    ties.add(one, other, most=round((1-dispersal)*ties.wanted)-len(ties))
    def prop(c):
        a=uniform(rng,people,c); b=np.minimum(people-1,a+uniform(rng,window,c)); return a,b
    ties.fill(1.,prop)
    return ties.network(rng, name)

def _homes(people, rng, per_year, turnover, winter, cycle):
    years=max(1,round(people/per_year))
    w=1+cycle*(2*rng.random(years)-1); 
    year=weighted(rng,w,people)
    season=np.where(rng.random(people)<winter,(rng.random(people)+rng.random(people))/2,rng.random(people))
    time=(year+season)*turnover
    order=np.argsort(time,kind='stable')
    xy=rng.random((people,2))
    return np.column_stack([xy,time])[order]

def _pairs_alive_together(place, range_, window):
    n=len(place); window=min(window,n-1)
    step=np.arange(1,window+1)
    one=np.repeat(np.arange(n),window); other=one+np.tile(step,n)
    keep=other<n; one,other=one[keep],other[keep]
    gap=place[one]-place[other]
    apart=(gap*gap).sum(axis=1)/(range_[one]*range_[other])
    return one,other,apart
