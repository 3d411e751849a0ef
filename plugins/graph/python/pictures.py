"""What `cambium report` draws of stages of this plugin (apps/python/plugin_pictures.py says how)."""

import node_pictures


def pictures(folder, scratch):
    """How often networks on nodes are right beside rivals, and which classes they mix up."""
    return node_pictures.draw(folder, scratch)


def view(path, names):
    """The same for `cambium plot` of scores.csv or nodes.csv of a stage classify_nodes."""
    figure = node_pictures.figure_of(path)
    if names or figure is None:
        return None
    from cambium_views import Whole

    return Whole(lambda: figure(path))
