#include "bench/pretrain/timed_search.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "bench/pretrain/made_vectors.hpp"
#include "core/base/pack.hpp"
#include "plugins/pretrain/search/stated_recall.hpp"

namespace cambium::pretrain {

using Json = nlohmann::json;

namespace {

/// Reads every value once: the minimum work of an exhaustive search.
float sum_of(const FloatRows& rows) {
  using F = Pack<float, native_width<float>>;
  constexpr std::size_t lanes = native_width<float>, together = 8;
  F sums[together];
  for (auto& s : sums) s = F(0.0f);
  const float* const from = rows.values.data();
  const std::size_t n = rows.values.size() / (lanes * together) * (lanes * together);
  for (std::size_t k = 0; k < n; k += lanes * together)
    for (std::size_t t = 0; t < together; ++t) sums[t] = sums[t] + F::load(from + k + t * lanes);
  float out = 0.0f;
  for (const auto& s : sums) out += sum(s);
  return out;
}

double mean_recall(const Entries& found, const Entries& exact) {
  double sum = 0.0;
  const auto all = recall_of(found, exact);
  for (const double r : all) sum += r;
  return sum / static_cast<double>(all.size());
}

/// Minimum times over all turns; 0 means none yet.
struct Least {
  Json& out;
  void keep(const std::string& name, double value) {
    if (!out.contains(name) || value < out[name].get<double>()) out[name] = value;
  }
};

struct Case {
  std::string kind;
  const SearchSettings& s;
  FloatRows rows, queries;
};

/// Results of faiss' exhaustive search, with similarities recomputed here: equal ones may be in another order.
Entries entries_from(const Json& numbers, const Case& c, std::int64_t queries) {
  Entries out(queries, c.s.count);
  for (std::size_t k = 0; k < out.number.size() && k < numbers.size(); ++k) {
    const auto number = numbers[k].get<std::int64_t>();
    if (number < 0 || number >= c.rows.rows) continue;
    out.number[k] = number;
    const auto query = static_cast<std::int64_t>(k) / c.s.count;
    out.similarity[k] = row_product(c.queries.row(query), c.rows.row(number), c.rows.stride);
  }
  return out;
}

/// faiss builds its indices over the same rows, and finds how many lists its own need.
bool prepare_peer(const Case& c, const InvertedLists& index, Peers& peers, Json& out) {
  if (!peers.has("faiss")) return false;
  const auto rows = peers.file<float>(c.kind + ".rows", c.rows.values);
  const auto queries = peers.file<float>(c.kind + ".queries", c.queries.values);
  const Json ready = peers.ask(fmt::format("search {} {} {} {} {} {} {} {}", rows, queries, c.rows.stride, c.s.columns,
                                           c.s.count, index.lists(), c.s.recall, c.s.turns));
  if (ready.is_null()) return false;
  for (const auto& [name, value] : ready.items()) out[c.kind + "_peer_" + name] = value;
  return true;
}

/// One turn of everything, and its results.
struct Turn {
  double rate = 0.0;  ///< B/s at which all rows are read
  Entries exact, found;
};

Turn take_turn(const Case& c, const InvertedLists& index, const Effort& effort, bool peer, Peers& peers, Json& out) {
  constexpr std::int64_t alone = 8;
  const std::string mark = c.kind + "_";
  Least least{out};
  Turn turn;
  volatile float kept = 0.0f;
  double reading = 1e300;
  for (int repeat = 0; repeat < 4; ++repeat)
    reading = std::min(reading, processor_seconds([&] { kept = sum_of(c.rows); }));
  turn.rate = static_cast<double>(c.rows.values.size() * sizeof(float)) / reading;
  const double one = processor_seconds([&] {
    for (std::int64_t q = 0; q < alone; ++q) exactly_nearest(c.rows, c.queries, q, q + 1, c.s.count);
  });
  least.keep(mark + "exact_one_us", 1e6 * one / alone);
  const std::int64_t some = std::min(c.s.queries, 2 * exact_block);
  const double many = processor_seconds([&] { turn.exact = exactly_nearest(c.rows, c.queries, 0, some, c.s.count); });
  least.keep(mark + "exact_us", 1e6 * many / static_cast<double>(some));
  const double quick =
      processor_seconds([&] { turn.found = index.nearest(c.queries, 0, c.s.queries, c.s.count, effort); });
  least.keep(mark + "approximate_us", 1e6 * quick / static_cast<double>(c.s.queries));
  if (!peer) return turn;
  const Json theirs = peers.ask("search_turn");
  for (const auto& [name, value] : theirs.items()) least.keep(mark + "peer_" + name, value.get<double>());
  return turn;
}

void add_ratios(const Case& c, double rate, Json& out) {
  const std::string mark = c.kind + "_";
  const auto us = [&](const std::string& name) { return out[mark + name].get<double>(); };
  const auto bytes = static_cast<double>(c.rows.values.size() * sizeof(float));
  out[mark + "memory_peak_gb_per_s"] = 1e-9 * rate;
  out[mark + "exact_share_of_memory"] = bytes / (1e-6 * us("exact_one_us")) / rate;
  out[mark + "exact_gflops"] = 2e-3 * static_cast<double>(c.s.rows * c.s.columns) / us("exact_us");
  out[mark + "exact_one_over_approximate_ratio"] = us("exact_one_us") / us("approximate_us");
  out[mark + "exact_over_approximate_ratio"] = us("exact_us") / us("approximate_us");
  const std::pair<const char*, const char*> baselines[] = {
      {"flat_one", "exact_one"}, {"flat", "exact"}, {"ivf", "approximate"}, {"ivf_bytes", "approximate"}};
  for (const auto& [theirs, ours] : baselines)
    if (const std::string name = fmt::format("peer_{}_us", theirs); out.contains(mark + name))
      out[fmt::format("{}peer_{}_ratio", mark, theirs)] = us(name) / us(fmt::format("{}_us", ours));
}

/// Results of the first `queries`.
Entries head_of(const Entries& all, std::int64_t queries) {
  Entries out(queries, all.count);
  std::copy_n(all.number.begin(), out.number.size(), out.number.begin());
  std::copy_n(all.similarity.begin(), out.similarity.size(), out.similarity.begin());
  return out;
}

}  // namespace

std::string time_search(const std::string& kind, const SearchSettings& s, Peers& peers, Json& out, Context& context) {
  const Case c{kind, s, made_vectors(kind, s.rows, s.columns, 1), made_vectors(kind, s.queries, s.columns, 2)};
  const std::string mark = kind + "_";
  const Comm self(MPI_COMM_SELF);
  std::optional<InvertedLists> index;
  out[mark + "build_seconds"] = processor_seconds([&] { index.emplace(c.rows, 0, self); });
  const auto stated = stated_recall(*index, c.queries, s.count, s.recall, self);
  context.log.info(fmt::format("{}: {}", kind, stated.text(index->lists())));
  const bool peer = prepare_peer(c, *index, peers, out);
  double rate = 0.0;
  Turn last;
  for (int turn = 0; turn < s.turns; ++turn) {
    last = take_turn(c, *index, stated.effort, peer, peers, out);
    rate = std::max(rate, last.rate);
  }
  add_ratios(c, rate, out);
  const double again = mean_recall(head_of(last.found, last.exact.queries), last.exact);
  out[mark + "recall"] = stated.recall;
  out[mark + "recall_again"] = again;
  out[mark + "compared_share"] = stated.compared;
  out[mark + "lists"] = index->lists();
  out[mark + "probes"] = stated.effort.probes;
  if (again < s.recall - 0.01) return fmt::format("{}: {:.4f} found, {:.4f} stated", kind, again, stated.recall);
  if (!peer) return "";
  const Json answers = peers.ask(fmt::format("search_answers {}", last.exact.queries));
  const double same = answers.is_array() ? mean_recall(entries_from(answers, c, last.exact.queries), last.exact) : 0.0;
  return same > 0.9999 ? "" : fmt::format("{}: faiss's exact search finds {:.4f} of ours", kind, same);
}

}  // namespace cambium::pretrain
