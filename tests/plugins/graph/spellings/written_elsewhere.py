"""Graphs and meshes as networkx, numpy, scipy and meshio write them, for test_written_elsewhere.cpp.

written_elsewhere.py FOLDER: writes the files and prints a line for each, "kind name content"; a graph's content are its edges "u,v,weight" as
the library itself reads them back, a mesh's its nodes, triangles, area and lengths of parts. Ends with 3 where a library is missing.
"""
import os
import sys

try:
    import meshio
    import networkx
    import numpy
    import scipy.io
    import scipy.sparse
except ImportError as error:
    print(error)
    sys.exit(3)

FOLDER = sys.argv[1]
DRAW = numpy.random.default_rng(4)


def say_graph(name, edges):
    """`edges`: (u, v, weight)."""
    kept = {(min(u, v), max(u, v)): w for u, v, w in edges}
    print("graph", name, " ".join(f"{u},{v},{w!r}" for (u, v), w in sorted(kept.items())))


def random_graph(numbers, weighted):
    graph = networkx.gnm_random_graph(len(numbers), 40, seed=3)
    graph = networkx.relabel_nodes(graph, dict(enumerate(numbers)))
    for u, v in graph.edges:
        if weighted:
            graph[u][v]["weight"] = float(DRAW.integers(1, 50)) / 8
    return graph


def write_graphs():
    for kind, numbers in (("from0", range(20)), ("gaps", range(7, 107, 5))):
        plain, weighted = random_graph(list(numbers), False), random_graph(list(numbers), True)
        for name, delimiter in (("blank", " "), ("comma", ","), ("tab", "\t")):
            path = f"{kind}_{name}"
            for graph, more in ((plain, "plain"), (weighted, "weighted")):
                file = os.path.join(FOLDER, f"{path}_{more}.txt")
                networkx.write_edgelist(graph, file, delimiter=delimiter)
                again = networkx.read_edgelist(file, nodetype=int, delimiter=delimiter)
                say_graph(os.path.basename(file), [(u, v, d.get("weight", 1.0)) for u, v, d in again.edges(data=True)])
            file = os.path.join(FOLDER, f"{path}_columns.txt")
            networkx.write_weighted_edgelist(weighted, file, delimiter=delimiter)
            again = networkx.read_weighted_edgelist(file, nodetype=int, delimiter=delimiter)
            say_graph(os.path.basename(file), again.edges(data="weight"))
        table = numpy.array([(u, v) for u, v in plain.edges] + [(v, u) for u, v in plain.edges])
        numpy.savetxt(os.path.join(FOLDER, f"{kind}_savetxt.txt"), table)
        say_graph(f"{kind}_savetxt.txt", [(u, v, 1.0) for u, v in plain.edges])
        matrix = scipy.sparse.coo_matrix(networkx.to_scipy_sparse_array(weighted, nodelist=sorted(weighted)))
        for symmetry in ("symmetric", "general"):
            file = os.path.join(FOLDER, f"{kind}_{symmetry}.mtx")
            scipy.io.mmwrite(file, matrix, symmetry=symmetry)
            again = scipy.io.mmread(file).tocoo()
            say_graph(os.path.basename(file), [(int(u) + 1, int(v) + 1, float(w)) for u, v, w in zip(again.row, again.col, again.data)])


def write_meshes():
    """A strip of 2 x 0.5 whose east and west sides are groups."""
    nx, ny = 4, 2
    points = [[2.0 * i / nx, 0.5 * j / ny, 0.0] for j in range(ny + 1) for i in range(nx + 1)] + [[9.0, 9.0, 0.0]]
    at = lambda i, j: j * (nx + 1) + i
    triangles = [t for j in range(ny) for i in range(nx)
                 for t in ([at(i, j), at(i + 1, j), at(i + 1, j + 1)], [at(i, j), at(i + 1, j + 1), at(i, j + 1)])]
    east, west = [[at(nx, j), at(nx, j + 1)] for j in range(ny)], [[at(0, j), at(0, j + 1)] for j in range(ny)]
    groups = [numpy.array([1] * ny + [2] * ny, dtype="int32"), numpy.array([3] * len(triangles), dtype="int32")]
    mesh = meshio.Mesh(points, [("line", east + west), ("triangle", triangles)],
                       cell_data={"gmsh:physical": groups, "gmsh:geometrical": groups},
                       field_data={"east": numpy.array([1, 1]), "west": numpy.array([2, 1]), "all": numpy.array([3, 2])})
    for name, options in (("old.msh", {"file_format": "gmsh22", "binary": False}), ("plain.vtu", {"file_format": "vtu", "binary": False}),
                          ("coded.vtu", {"file_format": "vtu", "binary": True, "compression": None})):
        meshio.write(os.path.join(FOLDER, name), mesh, **options)
        parts = "east=0.5 west=0.5" if name.endswith(".msh") else "1=0.5 2=0.5"
        print("mesh", name, "15 16 1.0", parts)


write_graphs()
write_meshes()
