"""Plan a survey in a village of 500 people who have about six contacts each.

Prints: expect to reach about
"""

import claim

plan = claim.plan(500, mean_degree=6, kind="clustered", leaders=10, interviews=(5, 10, 15, 25), studies=20)
for way, points in plan.ways.items():
    for point in points:
        print(f"{way:9} {point.interviews:3} interviews: {point.mean:5.1f} people reached, {point.verdict or ''}")
print(plan.advice)
