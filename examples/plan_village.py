"""Plan a survey in a village of 500 people who have about six contacts each.

Prints: Expect to reach about
"""

import claim

plan = claim.plan(500, mean_degree=6, kind="clustered", start_size=5, leaders=10, surveys=(0, 5, 10, 20), studies=20)
for point in plan.points:
    print(f"{point.surveys:3} surveys: {point.mean:5.1f} people reached, {point.discovered:4.0f} discovered")
print(plan.advice)
