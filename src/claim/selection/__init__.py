"""Leader selection: the greedy oracle, sampling with bounds for very large networks, and quick baselines."""
