"""Fit what ships: the models of the foresight selector and the weights of the scout policy.

The commands that fit them:

* ``claim foresight train --family retweet --out retweet.json`` (also ``animal``, ``zones``, ``all``, and ``free`` for
  the ranges of ``foresight:free``): :mod:`claim.fitting.foresight`; ``claim foresight coverage`` checks the ranges;
* ``python -m claim.fitting.scout weights.json``: :mod:`claim.fitting.scout`.

Policies that are trained by reinforcement learning come from ``claim train``: :mod:`claim.learning`.
``python tools/make_shipped.py`` makes all three kinds of files again.
"""
