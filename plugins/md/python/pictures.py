"""What `cambium report` and plot_run.py draw of molecular dynamics (apps/python/plugin_pictures.py says how)."""

from plot_md import panels  # noqa: F401
