#include "bench/graph/product_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>

#include "core/base/text.hpp"
#include "core/base/timing.hpp"
#include "plugins/graph/tiles/hybrid.hpp"

namespace cambium::graph {

using sparse::Csr;

namespace {

double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x[x.size() / 2];
}

/// Someone who multiplies: seconds of one of `calls` products.
struct Contestant {
  std::string name;
  std::function<double(int calls)> run;
  int calls = 1;
  double first = 0.0;  ///< s of the first call, which determines the number of calls per measurement
  std::vector<double> seconds = {};
};

/// A product brought to one number, and the sum of magnitudes of its terms.
struct Projection {
  double value = 0.0, size = 0.0;
};

/// By plain sums, in double.
template <class T>
Projection plain_projection(const Csr<T>& a, std::int64_t width) {
  Projection out;
  std::vector<double> row(at(width));
  for (std::int64_t i = 0; i < a.rows; ++i) {
    std::fill(row.begin(), row.end(), 0.0);
    for (std::size_t e = 0; e < a.length(i); ++e)
      for (std::int64_t k = 0; k < width; ++k)
        row[at(k)] += static_cast<double>(a.values_of(i)[e]) *
                      static_cast<double>(static_cast<T>(factor_number(a.columns_of(i)[e], k)));
    for (std::int64_t k = 0; k < width; ++k) {
      const double term = row_weight(i) * column_weight(k) * row[at(k)];
      out.value += term;
      out.size += std::abs(term);
    }
  }
  return out;
}

template <class T>
double projection(const std::vector<T>& x, std::int64_t width) {
  double out = 0.0;
  for (std::size_t n = 0; n < x.size(); ++n) {
    const auto i = static_cast<std::int64_t>(n) / width, k = static_cast<std::int64_t>(n) % width;
    out += row_weight(i) * column_weight(k) * static_cast<double>(x[n]);
  }
  return out;
}

template <class F>
double seconds_of(int calls, const F& f) {
  const double start = wall_seconds();
  for (int c = 0; c < calls; ++c) f();
  return (wall_seconds() - start) / calls;
}

/// Our two forms on one pair of arrays.
template <class T>
struct Ours {
  sparse::HybridMatrix<T> hybrid;
  std::vector<T> from, to;
  std::int64_t width;

  Ours(const Csr<T>& a, std::int64_t w) : hybrid(a, w), from(at(a.columns * w)), to(at(a.rows * w)), width(w) {
    for (std::int64_t i = 0; i < a.columns; ++i)
      for (std::int64_t k = 0; k < w; ++k) from[at(i * w + k)] = static_cast<T>(factor_number(i, k));
  }
  const Csr<T>& a() const { return hybrid.rows(); }
  sparse::Rows<const T> h() const { return {from.data(), a().columns, width, width}; }
  sparse::Rows<T> out() { return {to.data(), a().rows, width, width}; }
  void by_rows() { sparse::multiply(a(), h(), out()); }
  void chosen() { hybrid.multiply(h(), out()); }
};

/// Rows only, and the chosen form. A separate function, not part of the exported template below: the types captured by
/// its closures are local to this file.
template <class T>
std::vector<Contestant> own_ways(Ours<T>& ours) {
  return {{"rows", [&ours](int calls) { return seconds_of(calls, [&ours] { ours.by_rows(); }); }},
          {"chosen", [&ours](int calls) { return seconds_of(calls, [&ours] { ours.chosen(); }); }}};
}

/// Adds the reference implementations that support this case; the projection of each is compared with `expected`.
template <class T>
void add_peers(std::vector<PeerProgram>& peers, std::int64_t width, Projection expected, const std::string& prefix,
               std::vector<Contestant>& contestants, nlohmann::json& out, std::vector<std::string>& faults) {
  const double bound = std::is_same_v<T, double> ? 1e-12 : 1e-5;
  for (auto& program : peers)
    for (const auto& name : program.names) {
      const auto answer =
          program.process->ask(fmt::format("prepare {} {} {}", name, width, sizeof(T) == 8 ? "f64" : "f32"));
      const auto value = answer && answer->starts_with("ok ") ? parse_number(answer->substr(3)) : std::nullopt;
      if (!value) {
        out[prefix + name] = "no: " + answer.value_or("the program of this peer ended");
        continue;
      }
      if (!(std::abs(*value - expected.value) <= bound * expected.size))
        faults.push_back(fmt::format("{}{} differs by {:.1e}", prefix, name, std::abs(*value / expected.value - 1.0)));
      contestants.push_back({name, [process = program.process.get(), name](int calls) {
                               const auto told = process->ask(fmt::format("run {} {}", name, calls));
                               const auto seconds = told ? parse_number(*told) : std::nullopt;
                               return seconds.value_or(std::nan(""));
                             }});
    }
}

/// Contestants from the third on are reference implementations. One whose product is long and takes 3 times that of the
/// fastest is in no ratio: it runs once, so that the bench of all matrices ends within minutes.
void take_turns(std::vector<Contestant>& contestants, const ProductTurns& turns) {
  constexpr double slower = 3.0;
  double fastest = std::nan("");
  for (auto& c : contestants) {
    const double once = c.run(1);
    c.calls = std::isfinite(once) ? std::clamp(static_cast<int>(turns.seconds / std::max(once, 1e-9)), 1, 10000) : 1;
    c.first = once;
    if (&c >= contestants.data() + 2) fastest = std::fmin(fastest, once);
  }
  for (int turn = 0; turn < turns.turns; ++turn)
    for (auto& c : contestants)
      if (turn == 0 || !(c.first > turns.seconds && c.first > slower * fastest)) c.seconds.push_back(c.run(c.calls));
}

/// The median over turns of a's seconds over b's; of the turns that a took.
double ratio(const Contestant& a, const Contestant& b) {
  std::vector<double> out;
  for (std::size_t t = 0; t < a.seconds.size(); ++t) out.push_back(a.seconds[t] / b.seconds[t]);
  return median(out);
}

/// Bytes that must move: the matrix, every row of h that is used once, the result.
template <class T>
double least_bytes(const Csr<T>& a, std::int64_t width) {
  std::vector<char> used(at(a.columns), 0);
  for (std::int32_t j : a.column) used[at(j)] = 1;
  const auto rows = std::count(used.begin(), used.end(), 1) + a.rows;
  return static_cast<double>(a.entries() * static_cast<std::int64_t>(4 + sizeof(T)) + 8 * (a.rows + 1) +
                             rows * width * static_cast<std::int64_t>(sizeof(T)));
}

template <class T>
void report(const Ours<T>& ours, const std::vector<Contestant>& all, double copy_rate, const std::string& prefix,
            nlohmann::json& out) {
  const Contestant &rows = all[0], &chosen = all[1];
  const double seconds = median(chosen.seconds), bytes = least_bytes(ours.a(), ours.width);
  const auto& count = ours.hybrid.count();
  out[prefix + "rows_ms"] = 1e3 * median(rows.seconds);
  out[prefix + "ms"] = 1e3 * seconds;
  out[prefix + "gb_per_s"] = 1e-9 * bytes / seconds;
  out[prefix + "share_of_copy"] = bytes / seconds / copy_rate;
  out[prefix + "uncached_gb_per_s"] =
      1e-9 * static_cast<double>(ours.a().entries() * ours.width * static_cast<std::int64_t>(sizeof(T))) / seconds;
  out[prefix + "tiles_over_rows"] = ratio(rows, chosen);
  out[prefix + "tiled_share"] = static_cast<double>(count.dense_entries + count.bitmap_entries) /
                                static_cast<double>(std::max<std::int64_t>(1, ours.a().entries()));
  out[prefix + "padded_zeros"] = count.padded_zeros;
  double best = std::nan(""), best_rows = std::nan("");
  for (std::size_t k = 2; k < all.size(); ++k) {
    out[prefix + all[k].name + "_ms"] = 1e3 * median(all[k].seconds);
    out[prefix + all[k].name + "_turns"] = all[k].seconds.size();
    best = std::fmin(best, ratio(all[k], chosen));
    best_rows = std::fmin(best_rows, ratio(all[k], rows));
  }
  if (all.size() > 2) {
    out[prefix + "ratio"] = best;
    out[prefix + "rows_ratio"] = best_rows;
  }
}

}  // namespace

double factor_number(std::int64_t i, std::int64_t k) {
  return static_cast<double>((i * 37 + k * 101) % 1009) / 1009.0 - 0.5;
}
double row_weight(std::int64_t i) { return static_cast<double>(i * 31 % 17 - 8) / 8.0; }
double column_weight(std::int64_t k) { return static_cast<double>(k * 13 % 7 - 3) / 3.0; }

template <class T>
void measure_product(const BenchMatrix& m, std::int64_t width, const ProductTurns& turns, double copy_rate,
                     std::vector<PeerProgram>& peers, const std::string& prefix, nlohmann::json& out,
                     std::vector<std::string>& faults) {
  Ours<T> ours(sparse::converted<T>(m.matrix), width);
  const Projection expected = plain_projection(ours.a(), width);
  const double bound = std::is_same_v<T, double> ? 1e-12 : 1e-5;
  double worst = 0.0;
  std::vector<Contestant> all = own_ways(ours);
  for (const auto& c : all) {
    std::fill(ours.to.begin(), ours.to.end(), T(0));
    c.run(1);
    worst = std::max(worst, std::abs(projection(ours.to, width) - expected.value) / expected.size);
  }
  out[prefix + "error"] = worst;
  if (!(worst <= bound)) faults.push_back(fmt::format("{}: differs from plain sums by {:.1e}", prefix, worst));
  add_peers<T>(peers, width, expected, prefix, all, out, faults);
  take_turns(all, turns);
  report(ours, all, copy_rate, prefix, out);
}

template void measure_product<double>(const BenchMatrix&, std::int64_t, const ProductTurns&, double,
                                      std::vector<PeerProgram>&, const std::string&, nlohmann::json&,
                                      std::vector<std::string>&);
template void measure_product<float>(const BenchMatrix&, std::int64_t, const ProductTurns&, double,
                                     std::vector<PeerProgram>&, const std::string&, nlohmann::json&,
                                     std::vector<std::string>&);

double copy_rate() {
  std::vector<char> from(std::size_t{1} << 28, 1), to(from.size(), 2);
  double best = 1e300;
  for (int turn = 0; turn < 5; ++turn)
    best = std::min(best, seconds_of(1, [&] { std::memcpy(to.data(), from.data(), from.size()); }));
  return 2.0 * static_cast<double>(from.size()) / best;
}

}  // namespace cambium::graph
