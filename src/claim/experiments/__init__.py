"""The paper's experiments as a grid of jobs, on this machine or on a Ray cluster."""
