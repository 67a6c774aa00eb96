"""Advice for a team: whom to survey next, whom to ask to lead, and a rehearsal."""
