#include "apps/cambium/plan/graph_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/sparse/predicted_load.hpp"

namespace cambium::train {

using sparse::LayerOrder, sparse::LayerWidths, sparse::LayoutKeys, sparse::Load, sparse::Scheme;

namespace {

/// The layouts that a plan compares.
std::vector<LayoutKeys> layouts_for(int ranks) {
  std::vector<LayoutKeys> out{{Scheme::rows}, {Scheme::needed_rows}};
  for (int copies = 2; copies * copies <= ranks; copies *= 2) out.push_back({Scheme::rows_1_5d, copies});
  out.push_back({Scheme::grid_2d});
  out.push_back({Scheme::grid_3d});
  std::erase_if(out, [&](const LayoutKeys& keys) { return !sparse::fits(keys, ranks); });
  return out;
}

/// Sums the work of every rank in an epoch.
class Epoch {
 public:
  Epoch(const GraphWork& work, const sparse::Csr<double>& turned, std::span<const std::int64_t> first,
        const LayoutKeys& keys, const Machine& machine)
      : work_(work), turned_(turned), first_(first), machine_(machine), ranks_(std::ssize(first) - 1),
        received_(static_cast<std::size_t>(ranks_)) {
    out_.keys = keys;
    out_.name = name_of(keys.scheme) + (keys.copies > 1 ? fmt::format(", copies: {}", keys.copies) : "");
  }

  PlannedGraph planned() {
    for (const LayerWidths& layer : work_.layers) add(layer);
    for (const sparse::Words& words : received_) {
      out_.words = std::max(out_.words, words.dense);
      out_.entries = std::max(out_.entries, words.entries);
      out_.bytes = std::max(out_.bytes, static_cast<double>(words.bytes));
    }
    return out_;
  }

 private:
  void add(const LayerWidths& layer) {
    if (cheaper_order(layer) == LayerOrder::weights_first) {
      multiply(work_.matrix, layer.f_out);
      multiply(turned_, layer.f_out);
    } else {
      if (!layer.constant_input) multiply(work_.matrix, layer.f_in);
      if (layer.input_gradient) multiply(turned_, layer.f_in);
    }
    weights(layer);
  }

  void multiply(const sparse::Csr<double>& matrix, std::int64_t width) {
    const auto loads = predicted_loads(matrix, first_, out_.keys, width);
    const double number = work_.number_bytes;
    double computing = 0.0, bytes = 0.0;
    std::int64_t calls = 0;
    for (std::size_t r = 0; r < loads.size(); ++r) {
      const Load& load = loads[r];
      const auto multiplied = static_cast<double>(load.multiplied);
      computing = std::max({computing, number * multiplied / machine_.memory_bandwidth,
                            2.0 * multiplied / (machine_.peak * machine_.reached_peak)});
      sparse::Words words = load.received;
      // The prediction assumes 8-byte values, dense or with a column index.
      words.bytes -= (8 - work_.number_bytes) * (words.dense + words.entries);
      bytes = std::max(bytes, static_cast<double>(words.bytes));
      calls = std::max(calls, words.messages);
      received_[r] += words;
    }
    const double exchanging = seconds_of(Pattern::direct, bytes, calls, ranks_, 1, machine_);
    out_.computing += computing;
    out_.exchanging += exchanging;
    out_.seconds += std::max(computing, exchanging);
  }

  /// H W forward, G W^T and H^T G backward: grids bring rows together first, of f_in and of f_out columns.
  void weights(const LayerWidths& layer) {
    const auto loads = predicted_loads(work_.matrix, first_, out_.keys, 0);
    const int side = side_of_grid();
    double bytes = 0.0, rows = 0.0;
    for (std::size_t r = 0; r < loads.size(); ++r) {
      const int part = static_cast<int>(r) % side;
      for (std::int64_t width : {layer.f_in, layer.f_out}) {
        const std::int64_t own = width * (part + 1) / side - width * part / side, words = loads[r].rows * (width - own);
        received_[r].dense += words;
        received_[r].bytes += words * work_.number_bytes;
        bytes = std::max(bytes, static_cast<double>(words * work_.number_bytes));
      }
      rows = std::max(rows, static_cast<double>(loads[r].rows));
    }
    const double products = layer.input_gradient ? 6.0 : 4.0;
    const double computing = products * rows * static_cast<double>(layer.f_in * layer.f_out) /
                             (side * machine_.peak * machine_.reached_peak);
    const double exchanging = side == 1 ? 0.0 : 2.0 * seconds_of(Pattern::direct, bytes, side - 1, ranks_, 1, machine_);
    out_.computing += computing;
    out_.exchanging += exchanging;
    out_.seconds += computing + exchanging;
  }

  int side_of_grid() const {
    int side = 1;
    if (out_.keys.scheme == Scheme::grid_2d)
      while (side * side < ranks_) ++side;
    if (out_.keys.scheme == Scheme::grid_3d)
      while (side * side * side < ranks_) ++side;
    return side;
  }

  const GraphWork& work_;
  const sparse::Csr<double>& turned_;
  std::span<const std::int64_t> first_;
  const Machine& machine_;
  std::int64_t ranks_;
  std::vector<sparse::Words> received_;
  PlannedGraph out_;
};

}  // namespace

std::vector<PlannedGraph> plan_graph(const GraphWork& work, std::span<const std::int64_t> first,
                                     const Machine& machine) {
  const auto turned = sparse::transposed(work.matrix);
  std::vector<PlannedGraph> out;
  for (const LayoutKeys& keys : layouts_for(static_cast<int>(std::ssize(first)) - 1))
    out.push_back(Epoch(work, turned, first, keys, machine).planned());
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  return out;
}

std::vector<std::int64_t> ranges_of_equal_entries(const sparse::Csr<double>& matrix, int ranks) {
  std::vector<std::int64_t> out;
  for (int r = 0; r <= ranks; ++r) {
    const std::int64_t entries = matrix.entries() / ranks * r + matrix.entries() % ranks * r / ranks;
    out.push_back(std::lower_bound(matrix.start.begin(), matrix.start.end(), entries) - matrix.start.begin());
  }
  out.front() = 0;
  out.back() = matrix.rows;
  return out;
}

std::vector<std::string> graph_page(const GraphWork& work, const std::vector<PlannedGraph>& all) {
  std::vector<std::string> out;
  out.push_back(fmt::format("{} nodes, {} entries, {} layers: one epoch", work.matrix.rows, work.matrix.entries(),
                            work.layers.size()));
  out.push_back(fmt::format("{:<24}{:>14}{:>14}{:>12}{:>13}{:>13}{:>13}", "layout", "words", "entries", "MB",
                            "computing s", "messages s", "epoch s"));
  for (const PlannedGraph& p : all)
    out.push_back(fmt::format("{:<24}{:>14}{:>14}{:>12.4g}{:>13.4g}{:>13.4g}{:>13.4g}", p.name, p.words, p.entries,
                              1e-6 * p.bytes, p.computing, p.exchanging, p.seconds));
  out.push_back(
      fmt::format("  (words, entries and MB: what the busiest rank receives; best: layout {})", all.front().name));
  return out;
}

nlohmann::json graph_figures(const PlannedGraph& p) {
  return {{"layout", p.name},         {"words", p.words},           {"entries", p.entries}, {"bytes", p.bytes},
          {"computing", p.computing}, {"exchanging", p.exchanging}, {"seconds", p.seconds}};
}

}  // namespace cambium::train
