"""A study: events, the state they add up to, and the commands that append them."""
