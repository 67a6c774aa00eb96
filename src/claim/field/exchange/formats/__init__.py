"""From tables to records: one module a family of formats.

To add one, write a module with an ``Importer`` and name it in :mod:`claim.field.exchange.preview`.
"""
