"""Queries of an archive of fields beside what it returns; a name that no other plugin's module has, for notebooks."""

import matplotlib.pyplot as plt
import numpy as np

from cambium_style import SEQUENTIAL, STYLE


def neighbours_figure(path):
    """Queries on the left, beside the entries of the archive most like them."""
    import h5py

    with h5py.File(path, "r") as file:
        fields, method = np.asarray(file["field"]), file["field"].attrs["method"]
    if isinstance(method, bytes):
        method = method.decode()
    while fields.ndim > 4:  # three axes: the middle of the first one
        fields = fields[:, :, fields.shape[2] // 2]
    queries, shown = fields.shape[:2]
    wide = fields.shape[2] > fields.shape[3]
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(queries, shown, figsize=(1.7 * shown, 1.2 * queries), squeeze=False, layout="constrained")
        for q in range(queries):
            low, high = fields[q, 0].min(), fields[q, 0].max()
            for n in range(shown):
                picture = fields[q, n].T if wide else fields[q, n]
                axes[q, n].imshow(picture, origin="lower" if wide else "upper", cmap=SEQUENTIAL, vmin=low, vmax=high)
                axes[q, n].set(xticks=[], yticks=[])
                if q == 0:
                    axes[q, n].set_title("asked for" if n == 0 else f"{n}.", fontsize=9)
        figure.suptitle(f"Most alike by {method}", fontsize=10)
    return figure
