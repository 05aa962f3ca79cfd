"""Localization: the contents of templates in every language, checked by rules."""
