"""Checks: what is wrong with contacts, and with the characters of any text, before it is sent."""
