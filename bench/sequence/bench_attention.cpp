#include "bench/sequence/bench_attention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/counts.hpp"
#include "core/base/error.hpp"
#include "core/base/timing.hpp"
#include "core/parallel/memory.hpp"
#include "core/parallel/random.hpp"
#include "core/train/networks/attention/attention.hpp"
#include "core/train/networks/attention/random_features.hpp"

namespace cambium::train {
namespace {

using Type = AttentionParams::Type;
using Json = nlohmann::json;

constexpr std::pair<Type, const char*> types[] = {
    {Type::softmax, "softmax"}, {Type::two_pass, "two_pass"}, {Type::linear, "linear"}, {Type::favor, "favor"}};

struct Settings {
  int width, features, repeats;
  bool causal;
  double deviation;
};

/// Normally distributed queries, keys (standard deviation `deviation`) and values (1) of one head, interleaved by row.
template <class T>
std::vector<T> rows_of(int positions, int width, double deviation, std::uint64_t seed) {
  std::vector<T> out(at(positions) * at(3 * width));
  for (std::size_t k = 0; k < out.size(); ++k)
    out[k] = static_cast<T>((k % at(3 * width) < at(2 * width) ? deviation : 1.0) *
                            Random4(seed, Stream::test, k, 0).normal(0));
  return out;
}

/// One head of one text: times forward and backward pass, and measures the memory held between and during them.
template <class T>
struct Head {
  HeadShape shape;
  std::unique_ptr<Attention<T>> attention;
  std::vector<T> rows, out, kept, by_rows;

  Head(Type type, const HeadShape& s, std::span<const double> features, double deviation, std::uint64_t seed)
      : shape(s), attention(make_attention<T>(type, s, features)),
        rows(rows_of<T>(s.positions, s.width, deviation, seed)), out(at(s.positions) * at(s.width)),
        kept(at(attention->kept())), by_rows(rows.size()) {}

  void forward() {
    const T* q = rows.data();
    attention->forward({q, q + shape.width, q + 2 * shape.width, 3 * shape.width}, out.data(), shape.width,
                       kept.data());
  }
  void backward() {
    std::fill(by_rows.begin(), by_rows.end(), T(0));
    const T* q = rows.data();
    T* by = by_rows.data();
    attention->backward({q, q + shape.width, q + 2 * shape.width, 3 * shape.width}, kept.data(), out.data(),
                        shape.width, {by, by + shape.width, by + 2 * shape.width, 3 * shape.width});
  }
  double bytes() const { return static_cast<double>(attention->kept() + attention->scratch()) * sizeof(T); }
};

/// Minimum seconds of a call, over the requested repeats and for at least 0.1 s.
template <class F>
double least_seconds(int repeats, const F& call) {
  call();
  double least = 1e300, all = 0.0;
  for (int k = 0; k < repeats || all < 0.1; ++k) {
    const double start = wall_seconds();
    call();
    const double took = wall_seconds() - start;
    least = std::min(least, took);
    all += took;
  }
  return least;
}

double relative_error(const std::vector<double>& said, const std::vector<double>& exact) {
  double error = 0.0, square = 0.0;
  for (std::size_t k = 0; k < exact.size(); ++k) {
    error += std::pow(said[k] - exact[k], 2);
    square += exact[k] * exact[k];
  }
  return std::sqrt(error / square);
}

struct Point {
  int length;
  double seconds;
};

/// The slope of log time over log length, by least squares, from length 512 on.
double exponent(const std::vector<Point>& points) {
  double n = 0.0, x = 0.0, y = 0.0, xx = 0.0, xy = 0.0;
  for (const auto& p : points) {
    if (p.length < 512) continue;
    const double a = std::log(p.length), b = std::log(p.seconds);
    n += 1.0;
    x += a;
    y += b;
    xx += a * a;
    xy += a * b;
  }
  return (n * xy - x * y) / (n * xx - x * x);
}

/// The length from which on the second is faster, interpolated between two lengths; 0 if it never is, the smallest
/// length if it always is.
double crossing(const std::vector<Point>& slow, const std::vector<Point>& fast) {
  double before = 0.0;
  for (std::size_t k = 0; k < slow.size(); ++k) {
    const double now = std::log(slow[k].seconds / fast[k].seconds);
    if (now > 0.0) {
      if (k == 0) return slow[0].length;
      const double share = -before / (now - before);
      return slow[k - 1].length * std::pow(static_cast<double>(slow[k].length) / slow[k - 1].length, share);
    }
    before = now;
  }
  return 0.0;
}

std::vector<Point> over_lengths(Type type, const char* name, const Settings& s, int least, int most, Json& out,
                                Log& log) {
  const auto features = type == Type::favor ? random_features(1, 0, s.features, s.width) : std::vector<double>{};
  std::vector<Point> points;
  for (int length = least; length <= most; length *= 2) {
    Head<float> head(type, {length, s.width, s.causal}, features, s.deviation, 3);
    const double forward = least_seconds(s.repeats, [&] { head.forward(); });
    const double backward = least_seconds(s.repeats, [&] { head.backward(); });
    const auto key = fmt::format("{}_{}", name, length);
    out[key + "_forward_ms"] = 1e3 * forward;
    out[key + "_backward_ms"] = 1e3 * backward;
    out[key + "_mib"] = head.bytes() / 1048576.0;
    log.info(fmt::format("{:<10}{:>8}{:>12.4g}{:>12.4g}{:>12.4g}", name, length, 1e3 * forward, 1e3 * backward,
                         head.bytes() / 1048576.0));
    points.push_back({length, forward + backward});
  }
  if (points.back().length >= 1024) out[fmt::format("{}_time_exponent", name)] = exponent(points);
  return points;
}

/// Means over draws and rows: 512 positions in double, bidirectional.
void errors_of_favor(const Settings& s, int draws, Json& out, Log& log) {
  const HeadShape shape{512, s.width, false};
  log.info(fmt::format("{:<10}{:>14}{:>14}", "features", "orthogonal", "independent"));
  for (int features = 16; features <= 4096; features *= 4) {
    double sums[2] = {};
    for (int draw = 0; draw < draws; ++draw) {
      const auto seed = static_cast<std::uint64_t>(draw + 1);
      Head<double> exact(Type::two_pass, shape, {}, s.deviation, seed);
      exact.forward();
      for (const Draw kind : {Draw::orthogonal, Draw::independent}) {
        Head<double> said(Type::favor, shape, random_features(seed, 1, features, s.width, kind), s.deviation, seed);
        said.forward();
        sums[kind == Draw::independent] += relative_error(said.out, exact.out) / draws;
      }
    }
    out[fmt::format("favor_{}_features_error", features)] = sums[0];
    out[fmt::format("favor_{}_independent_features_error", features)] = sums[1];
    log.info(fmt::format("{:<10}{:>14.4g}{:>14.4g}", features, sums[0], sums[1]));
  }
}

/// Checks that blocked attention equals the full one, causal and bidirectional.
std::string check(const Settings& s) {
  double worst = 0.0;
  for (const bool causal : {true, false}) {
    Head<double> full(Type::softmax, {512, s.width, causal}, {}, 1.0, 3);
    Head<double> blocks(Type::two_pass, {512, s.width, causal}, {}, 1.0, 3);
    full.forward();
    blocks.forward();
    full.backward();
    blocks.backward();
    worst = std::max({worst, relative_error(blocks.out, full.out), relative_error(blocks.by_rows, full.by_rows)});
  }
  return fmt::format("{}: two_pass differs from softmax by {:.1e}", worst < 1e-12 ? "ok" : "FAILED", worst);
}

Json measure(const BenchOptions& options, Context& context) {
  const int least = options.integer("least"), most = options.integer("most"), draws = options.integer("draws");
  const Settings s{options.integer("width"), options.integer("features"), options.integer("repeats"),
                   options.yes("causal"), options.number("deviation")};
  if (least < 1 || most < least || s.width < 1 || s.features < 1 || s.repeats < 1 || draws < 1)
    throw InputError(
        fmt::format("bench attention: least {}, most {}, width {}, features {}, repeats {} and draws {} must be 1 or "
                    "more, and most no less than least",
                    least, most, s.width, s.features, s.repeats, draws));
  require_memory(8.0 * most * most, fmt::format("softmax between {} places", most), "lower 'most'", context);
  Json out;
  out["check"] = check(s);
  context.log.info(fmt::format("one head of {} numbers, {}, float\n{:<10}{:>8}{:>12}{:>12}{:>12}", s.width,
                               s.causal ? "causal" : "seen both ways", "type", "length", "forward ms", "backward ms",
                               "MiB"));
  std::vector<std::vector<Point>> points;
  for (const auto& [type, name] : types) points.push_back(over_lengths(type, name, s, least, most, out, context.log));
  for (std::size_t k = 1; k < points.size(); ++k)
    out[fmt::format("{}_faster_than_softmax_from_length", types[k].second)] = crossing(points[0], points[k]);
  for (std::size_t k = 2; k < points.size(); ++k)
    out[fmt::format("{}_faster_than_two_pass_from_length", types[k].second)] = crossing(points[1], points[k]);
  errors_of_favor(s, draws, out, context.log);
  return out;
}

}  // namespace

Bench bench_attention() {
  return {"attention",
          "types of attention over the length of a text, time and memory beside the full softmax, and errors of random "
          "features",
          measure,
          {{"least", "length that the table begins with; each next one is twice as long", 256},
           {"most", "length that it ends with", 8192},
           {"width", "numbers of a head", 64},
           {"features", "random features in the table of times", 128},
           {"causal", "a place sees what came before, else all", true},
           {"repeats", "of each timed call, at least; the least time counts", 3},
           {"deviation", "of the entries of queries and keys", 0.25},
           {"draws", "of features and rows for the errors", 12}},
          {"least=512", "most=1024", "draws=1"}};
}

}  // namespace cambium::train
