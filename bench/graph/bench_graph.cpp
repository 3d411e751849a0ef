#include "bench/graph/bench_graph.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/graph/product_case.hpp"
#include "core/base/child.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "plugins/graph/tiles/costs.hpp"

namespace cambium::graph {

using Json = nlohmann::json;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t first = 0; first <= text.size();) {
    const std::size_t last = std::min(text.find(',', first), text.size());
    out.push_back(text.substr(first, last - first));
    first = last + 1;
  }
  return out;
}

std::vector<std::int64_t> widths_of(const std::string& text) {
  std::vector<std::int64_t> out;
  for (const auto& word : words_of(text)) {
    const auto number = parse_number(word);
    if (!number || *number < 1.0 || *number > 4096.0 || *number != static_cast<int>(*number))
      throw InputError(
          fmt::format("bench graph: widths is '{}'; give whole numbers from 1 to 4096, as widths=16,64,128", text));
    out.push_back(static_cast<std::int64_t>(*number));
  }
  return out;
}

std::vector<std::string> names_of(const std::string& text) {
  const auto known = bench_matrix_names();
  if (text == "all") return known;
  for (const auto& name : words_of(text))
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw InputError(fmt::format("bench graph: graphs names '{}'; there are {}, and all", name, join(known)));
  return words_of(text);
}

/// Starts a program of reference implementations; its first line names them as name=version.
void start(std::vector<PeerProgram>& peers, const std::vector<std::string>& words, Json& out) {
  PeerProgram program{std::make_unique<PeerProcess>(words), {}};
  const auto answer = program.process->ask("names");
  if (!answer) return;
  for (const auto& word : words_of(*answer))
    if (const auto equals = word.find('='); equals != std::string::npos) {
      program.names.push_back(word.substr(0, equals));
      out["peer_" + program.names.back()] = word.substr(equals + 1);
    }
  peers.push_back(std::move(program));
}

std::vector<PeerProgram> start_peers(const BenchOptions& options, Json& out, Context& context) {
  std::vector<PeerProgram> peers;
  for (const char* name : {"scipy", "torch", "graphblas", "librsb", "kokkos_kernels"})
    out[std::string("peer_") + name] = "not there";
  if (!options.yes("peers")) return peers;
  const fs::path compiled = fs::read_symlink("/proc/self/exe").parent_path() / "graph_peers";
  if (fs::exists(compiled))
    start(peers, {compiled.string()}, out);
  else
    context.log.info(
        "no GraphBLAS, librsb, KokkosKernels: the program graph_peers was not built (Debian: libgraphblas-dev, "
        "librsb-dev, libtrilinos-kokkos-kernels-dev; then configure again and build the target peers)");
  const auto python = python_with({"numpy", "scipy"});
  if (python && fs::exists(options.text("script")))
    start(peers, {*python, options.text("script")}, out);
  else
    context.log.info(
        fmt::format("no scipy, PyTorch: {}", python ? "'" + options.text("script") + "' is not there (script=PATH)"
                                                    : "there is no python3 with numpy and scipy"));
  return peers;
}

template <class T>
void write_raw(const std::string& path, const std::vector<T>& values) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
  if (!file) throw InputError("bench graph: cannot write " + path);
}

/// Passes a matrix to the reference programs: its arrays as raw files (int64, int32, float64).
void hand_over(const BenchMatrix& m, const std::string& stem, std::vector<PeerProgram>& peers) {
  if (peers.empty()) return;
  write_raw(stem + ".start", m.matrix.start);
  write_raw(stem + ".column", m.matrix.column);
  write_raw(stem + ".value", m.matrix.value);
  for (auto& p : peers)
    p.process->ask(fmt::format("load {} {} {} {}", stem, m.matrix.rows, m.matrix.columns, m.matrix.entries()));
  for (const char* end : {".start", ".column", ".value"}) fs::remove(stem + end);
}

std::string told(const Json& out, const std::string& prefix) {
  std::string text =
      fmt::format("{:<30}{:9.3f} ms{:8.1f} GB/s, tiles {:.2f} x rows", prefix, out[prefix + "ms"].get<double>(),
                  out[prefix + "gb_per_s"].get<double>(), out[prefix + "tiles_over_rows"].get<double>());
  if (out.contains(prefix + "ratio"))
    text += fmt::format(", {:.2f} x the best peer", out[prefix + "ratio"].get<double>());
  return text;
}

Json measure_graph(const BenchOptions& options, Context& context) {
  if (context.comm.size() > 1) throw InputError("bench graph measures one rank: call it without mpirun");
  const int nodes = options.integer("mesh_nodes");
  if (nodes < 4 || nodes > 100'000'000)
    throw InputError(fmt::format("bench graph: mesh_nodes is {}; give 4 to 100000000", nodes));
  const auto names = names_of(options.text("graphs"));
  const auto widths = widths_of(options.text("widths"));
  const ProductTurns turns{std::max(1, options.integer("turns")), options.number("seconds")};
  const char* data = std::getenv("CAMBIUM_DATA");
  const std::string stem = (fs::temp_directory_path() / fmt::format("cambium-bench-graph-{}", ::getpid())).string();
  Json out;
  std::vector<std::string> faults;
  auto peers = start_peers(options, out, context);
  const double copying = copy_rate();
  out["copy_gb_per_s"] = 1e-9 * copying;
  for (const auto& name : names) {
    const BenchMatrix m = bench_matrix(name, data ? data : "", nodes);
    context.log.info(fmt::format("{}: {}, {} rows, {} entries", name, m.source, m.matrix.rows, m.matrix.entries()));
    out[name + "_source"] = m.source;
    out[name + "_rows"] = m.matrix.rows;
    out[name + "_entries"] = m.matrix.entries();
    hand_over(m, stem, peers);
    for (std::int64_t width : widths)
      for (const char* type : {"f64", "f32"}) {
        const std::string prefix = fmt::format("{}_{}_{}_", name, type, width);
        (type[1] == '6' ? measure_product<double> : measure_product<float>)(m, width, turns, copying, peers, prefix,
                                                                            out, faults);
        context.log.info(told(out, prefix));
      }
  }
  for (std::int64_t width : widths)
    context.log.info(fmt::format("width {}, double: {}", width, sparse::tile_costs<double>(width).text()));
  out["check"] = faults.empty() ? "ok: rows, tiles and every peer agree with plain sums (1e-12 double, 1e-5 float)"
                                : fmt::format("WRONG: {}", fmt::join(faults, "; "));
  return out;
}

}  // namespace

Bench bench_graph() {
  return {
      "graph",
      "sparse times tall dense matrices on graphs, molecules and a mesh, beside scipy, PyTorch, GraphBLAS, librsb and "
      "KokkosKernels",
      measure_graph,
      {{"graphs", "which, with commas between: " + join(bench_matrix_names()) + "; or all", "all"},
       {"widths", "columns of the dense matrix, with commas between", "16,64,128"},
       {"turns", "times that all take their turn; medians count", 7},
       {"seconds", "of one turn of one contestant, about", 0.05},
       {"mesh_nodes", "points of the mesh", 1000000},
       {"peers", "run the peers that are there", true},
       {"script", "Python script with scipy and PyTorch", "studies/graph_peers.py"}},
      {"graphs=cora,molecules", "widths=16,128", "peers=no", "turns=3"}};
}

}  // namespace cambium::graph
