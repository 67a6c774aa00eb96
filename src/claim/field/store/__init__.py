"""Encrypted study files."""
