#!/usr/bin/env bash
# networkx 2.8.8, read_edgelist: the two most common forms of edge lists that are not "u v" lines.
# Most would expect edges, or an error.
# Seen: a file with commas is an empty graph: lines with fewer than two words are skipped without a word. A first line of counts ("5 4": five
# nodes, four edges), as many archives have it, is an edge: six nodes and five edges. Remarks that begin with % (KONECT, Matrix Market) are an error
# or edges between words, by the type of the nodes.
# What it means: compare the numbers of nodes and edges with those that the archive states.
. "$(dirname "$0")/debian.sh"
packages python3-networkx=2.8.8-1
cat >case.py <<'PY'
import networkx

def read(title, text, **how):
    with open("edges.txt", "w") as file:
        file.write(text)
    graph = networkx.read_edgelist("edges.txt", **how)
    print(f"{title}: {graph.number_of_nodes()} nodes, {graph.number_of_edges()} edges")

edges = [(0, 1), (1, 2), (2, 3), (3, 4)]
read("blanks", "".join(f"{u} {v}\n" for u, v in edges), nodetype=int)
read("commas", "".join(f"{u},{v}\n" for u, v in edges))
read("a line of counts", "5 4\n" + "".join(f"{u} {v}\n" for u, v in edges), nodetype=int)
read("a remark of KONECT", "% sym unweighted\n" + "".join(f"{u} {v}\n" for u, v in edges), data=False)
PY
seen "blanks: 5 nodes, 4 edges
commas: 0 nodes, 0 edges
a line of counts: 6 nodes, 5 edges
a remark of KONECT: 7 nodes, 5 edges" "$(python case.py)"
