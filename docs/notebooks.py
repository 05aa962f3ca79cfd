"""Render the recipes' notebook as a page, and take the pictures from beside the notebooks."""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from nbconvert import MarkdownExporter

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add both; outputs are left out, for they are tables of a notebook's width."""
    exporter = MarkdownExporter(exclude_output=True)
    text, _ = exporter.from_filename(str(NOTEBOOKS / "5_recipes.ipynb"))
    files.append(File.generated(config, "recipes.md", content=text))
    for path in (NOTEBOOKS / "images").iterdir():
        files.append(File.generated(config, f"images/{path.name}", abs_src_path=str(path)))
    return files
