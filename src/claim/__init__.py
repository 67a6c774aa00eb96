"""CLAIM: whom to survey next in a social network nobody has a map of, and whom to recruit at the end."""
