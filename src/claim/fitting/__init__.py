"""Fit what ships: the models of the foresight selector and the weights of the scout policy.

The commands that fit them:

* ``claim foresight train``: :mod:`claim.fitting.foresight`, from :mod:`claim.fitting.studies` (what is simulated),
  :mod:`claim.fitting.leaders` (what people reach and leaders add) and :mod:`claim.fitting.reach` (the reach to expect,
  which ``claim foresight coverage`` checks);
* ``python -m claim.fitting.scout weights.json``: :mod:`claim.fitting.scout`.

Policies that are trained by reinforcement learning come from ``claim train``: :mod:`claim.learning`.
``python tools/make_shipped.py`` makes all three kinds of files again.
"""
