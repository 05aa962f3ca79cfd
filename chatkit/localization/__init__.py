"""Localization: the contents of templates, in every language, held against the rules."""
