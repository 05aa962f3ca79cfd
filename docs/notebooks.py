"""Render the recipes' notebook as a page, so that a recipe is written once."""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from nbconvert import MarkdownExporter

RECIPES = Path(__file__).parents[1] / "notebooks" / "5_recipes.ipynb"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page; outputs are left out, for they are tables of a notebook's width."""
    exporter = MarkdownExporter(exclude_output=True)
    text, _ = exporter.from_filename(str(RECIPES))
    files.append(File.generated(config, "recipes.md", content=text))
    return files
