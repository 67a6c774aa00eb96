"""CLAIM itself: goals, hindsight and curriculum replay for a goal-directed Geometric-DQN."""
