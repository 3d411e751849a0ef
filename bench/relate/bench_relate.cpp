#include "bench/relate/bench_relate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "bench/relate/cosine_steps.hpp"
#include "bench/relate/dense_tables.hpp"
#include "bench/relate/peer_script.hpp"
#include "core/base/error.hpp"
#include "core/base/timing.hpp"
#include "core/parallel/random.hpp"
#include "core/train/kinds/buffer.hpp"
#include "core/train/tables/fetch_rows.hpp"
#include "plugins/relate/datasets/clicks.hpp"
#include "plugins/relate/networks/dlrm.hpp"
#include "plugins/relate/networks/factorization_machine.hpp"

namespace cambium::relate {

using Json = nlohmann::json;

namespace {

constexpr std::int64_t batches = 8;  // distinct ones, used in rotation

/// Sizes of the measurement, per rank.
struct Sizes {
  std::int64_t columns, rows, width, batch, lookup_rows, lookup_width;
  int turns;
};

Sizes sizes_of(const BenchOptions& options) {
  for (const char* name : {"columns", "rows", "width", "batch", "lookup_rows", "lookup_width", "turns"})
    if (options.integer(name) < (name == std::string("columns") ? 2 : 1))
      throw InputError(fmt::format("bench relate: {} is {}; give {} or more", name, options.integer(name),
                                   name == std::string("columns") ? 2 : 1));
  return {options.integer("columns"), options.integer("rows"),        options.integer("width"),
          options.integer("batch"),   options.integer("lookup_rows"), options.integer("lookup_width"),
          options.integer("turns")};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Seconds of a call on the slowest rank, all beginning together.
template <class F>
double seconds_of(const Comm& comm, F&& call) {
  comm.barrier();
  const double start = wall_seconds();
  call();
  return comm.max(wall_seconds() - start);
}

/// Bytes read and written per second by copying 256 MB.
double copy_rate() {
  std::vector<char> from(std::size_t{1} << 28, 1), to(from.size());
  double best = 1e300;
  for (int turn = 0; turn < 4; ++turn) {
    const double start = wall_seconds();
    std::memcpy(to.data(), from.data(), from.size());
    best = std::min(best, wall_seconds() - start);
    from[turn] = to[to.size() - 1];
  }
  return 2.0 * static_cast<double>(from.size()) / best;
}

/// All rows of a table, on every rank.
std::vector<float> rows_of_table(train::Tables& tables, std::size_t table) {
  std::vector<train::Bags> bags(tables.infos().size());
  for (std::size_t t = 0; t < bags.size(); ++t)
    for (std::int64_t r = 0; r < tables.infos()[table].rows; ++r) {
      const auto row = static_cast<std::int32_t>(r);
      bags[t].add(t == table ? std::span(&row, 1) : std::span<const std::int32_t>());
    }
  tables.look_up(std::move(bags));
  const TensorRef all = tables.looked_up().pooled(static_cast<int>(table));
  const auto* begin = static_cast<const float*>(all.data);
  return {begin, begin + all.elements()};
}

/// Bytes that this rank has sent for rows so far.
double sent(const train::Tables& tables) {
  double out = 0.0;
  for (const auto& row : tables.traffic().rows()) out += static_cast<double>(row.bytes);
  return out;
}

void measure_lookups(const Sizes& sizes, Json& out, Context& context) {
  std::vector<train::TableInfo> infos;
  for (std::int64_t c = 0; c < sizes.columns; ++c)
    infos.push_back({fmt::format("C{}", c + 1), sizes.lookup_rows, sizes.lookup_width, 1.0});
  train::TableKeys keys;
  keys.optimizer = train::TableKeys::Rule::sgd;
  const auto tables = train::make_tables(infos, keys, DType::f32, context);
  tables->start(1);
  std::vector<std::vector<train::Bags>> named(batches, std::vector<train::Bags>(infos.size()));
  for (std::size_t b = 0; b < named.size(); ++b)
    for (std::size_t t = 0; t < infos.size(); ++t)
      for (std::int64_t s = 0; s < sizes.batch; ++s) {
        const Random4 draw(2, Stream::test, static_cast<std::uint64_t>(s + sizes.batch * context.comm.rank()),
                           t + infos.size() * b);
        const auto row = static_cast<std::int32_t>(draw.uniform(0) * static_cast<double>(sizes.lookup_rows));
        named[b][t].add(std::span(&row, 1));
      }
  const std::vector<float> plain_rows(sizes.lookup_rows * sizes.lookup_width, 0.5f);
  std::vector<std::vector<float>> many(infos.size(), plain_rows), sums(infos.size());
  std::vector<double> ours, plain;
  for (int turn = 0; turn < sizes.turns; ++turn) {
    const auto& bags = named[static_cast<std::size_t>(turn) % named.size()];
    auto copy = bags;
    ours.push_back(seconds_of(context.comm, [&] {
      tables->look_up(std::move(copy));
      for (std::size_t t = 0; t < infos.size(); ++t) tables->looked_up().pooled(static_cast<int>(t));
    }));
    plain.push_back(seconds_of(context.comm, [&] {
      for (std::size_t t = 0; t < infos.size(); ++t) plain_sums(bags[t], many[t], sizes.lookup_width, sums[t]);
    }));
  }
  const double rows = static_cast<double>(sizes.columns * sizes.batch), seconds = median(ours), copied = copy_rate();
  const double moved = 2.0 * sizeof(float) * rows * static_cast<double>(sizes.lookup_width) / seconds;
  out["lookup_rows_per_s"] = rows * context.comm.size() / seconds;
  out["lookup_plain_rows_per_s"] = rows * context.comm.size() / median(plain);
  out["lookup_plain_ratio"] = median(plain) / seconds;
  out["lookup_gb_per_s"] = 1e-9 * moved;
  out["copy_gb_per_s"] = 1e-9 * copied;
  out["lookup_share_of_copy"] = moved / copied;
  context.log.info(fmt::format("lookups: {:.3g} million rows/s, a plain loop {:.3g}; {:.2f} of what copying moves",
                               1e-6 * out["lookup_rows_per_s"].get<double>(),
                               1e-6 * out["lookup_plain_rows_per_s"].get<double>(), moved / copied));
}

/// A network with weights and tables in both ways, and the samples of this rank in every batch.
class Steps {
 public:
  Steps(TableNetwork& network, Clicks& data, const Sizes& sizes, Context& context)
      : network_(network), context_(context),
        layout_(fitted(network, data, context).parameters(), std::int64_t{1} << 40), weights_(layout_, DType::f32),
        gradients_(layout_, DType::f32), tables_(train::make_tables(network.tables(), keys(), DType::f32, context)) {
    network.initialise(weights_.views(), 1);
    tables_->start(1);
    std::vector<std::vector<float>> rows;
    for (std::size_t t = 0; t < tables_->infos().size(); ++t) rows.push_back(rows_of_table(*tables_, t));
    dense_ = std::make_unique<DenseTables>(tables_->infos(), std::move(rows), keys(), context.comm);
    for (std::int64_t b = 0; b < batches; ++b) {
      std::vector<std::int64_t> ids;
      for (std::int64_t s = 0; s < sizes.batch; ++s)
        ids.push_back((b * context.comm.size() + context.comm.rank()) * sizes.batch + s);
      samples_.push_back(data.read(ids));
    }
  }
  void divided(std::size_t turn) {
    const auto& samples = samples_[turn % samples_.size()];
    const std::span<const train::SamplePtr> slice[] = {samples};
    const std::int64_t number[] = {context_.comm.rank()};
    train::fetch_rows(network_, tables_.get(), slice, number, context_.comm);
    compute(tables_->rows(0), samples);
    tables_->send_back();
    tables_->step(factor(samples), rate);
  }
  void dense(std::size_t turn) {
    const auto& samples = samples_[turn % samples_.size()];
    dense_->take(network_.bags(samples));
    compute(*dense_, samples);
    dense_->step(factor(samples), rate);
  }
  /// Largest difference between the rows of both, over the largest number.
  double difference() {
    double worst = 0.0, scale = 1e-30;
    for (std::size_t t = 0; t < tables_->infos().size(); ++t) {
      const auto ours = rows_of_table(*tables_, t);
      const auto& theirs = dense_->rows(t);
      for (std::size_t k = 0; k < ours.size(); ++k) {
        worst = std::max(worst, std::abs(static_cast<double>(ours[k]) - static_cast<double>(theirs[k])));
        scale = std::max(scale, std::abs(static_cast<double>(theirs[k])));
      }
    }
    return worst / scale;
  }
  /// Rows of the first batch that differ over those it names.
  double touched_share() const {
    double named = 0.0, different = 0.0;
    for (const auto& bags : network_.bags(samples_.front())) {
      named += static_cast<double>(bags.ids.size());
      different += static_cast<double>(std::set<std::int64_t>(bags.ids.begin(), bags.ids.end()).size());
    }
    return different / named;
  }
  double network_seconds() const { return median(network_seconds_); }
  double tables_bytes() const {
    double out = 0.0;
    for (std::size_t t = 0; t < tables_->infos().size(); ++t)
      out += 2.0 * sizeof(float) * static_cast<double>(tables_->infos()[t].width) *
             static_cast<double>(tables_->places().held(static_cast<int>(t), context_.comm.rank()));
    return out;
  }
  const DenseTables& dense_tables() const { return *dense_; }
  const train::Tables& tables() const { return *tables_; }

 private:
  static constexpr double rate = 0.01;
  static train::TableKeys keys() {
    train::TableKeys out;
    out.optimizer = train::TableKeys::Rule::adagrad;
    return out;
  }
  static TableNetwork& fitted(TableNetwork& network, Clicks& data, Context& context) {
    network.fit_statistics(data, context);
    return network;
  }
  double factor(const std::vector<train::SamplePtr>& samples) const {
    return 1.0 / static_cast<double>(std::ssize(samples) * context_.comm.size());
  }
  void compute(train::TableRows& rows, const std::vector<train::SamplePtr>& samples) {
    const double begin = wall_seconds(), one[] = {1.0};
    network_.use_rows(&rows);
    gradients_.zero();
    std::vector<train::TermSum> terms(network_.terms().size());
    network_.gradient(samples, weights_.views(), one, gradients_.views(), terms, {});
    network_seconds_.push_back(wall_seconds() - begin);
  }

  TableNetwork& network_;
  Context& context_;
  train::FlatLayout layout_;
  train::FlatBuffer weights_, gradients_;
  std::unique_ptr<train::Tables> tables_;
  std::unique_ptr<DenseTables> dense_;
  std::vector<std::vector<train::SamplePtr>> samples_;
  std::vector<double> network_seconds_;
};

/// Figures of one network, their names beginning with its own; returns how far rows differ at the end.
double measure_steps(const std::string& name, TableNetwork& network, Clicks& data, const Sizes& sizes, Json& out,
                     Context& context) {
  Steps steps(network, data, sizes, context);
  std::vector<double> ours, plain;
  for (int turn = 0; turn < sizes.turns; ++turn) {
    ours.push_back(seconds_of(context.comm, [&] { steps.divided(static_cast<std::size_t>(turn)); }));
    plain.push_back(seconds_of(context.comm, [&] { steps.dense(static_cast<std::size_t>(turn)); }));
  }
  const double ranks = context.comm.size(), seconds = median(ours);
  double dense_numbers = 0.0;
  for (const auto& info : steps.tables().infos()) dense_numbers += static_cast<double>(info.rows * info.width);
  out[name + "_step_ms"] = 1e3 * seconds;
  out[name + "_dense_step_ms"] = 1e3 * median(plain);
  out[name + "_dense_ratio"] = median(plain) / seconds;
  out[name + "_network_ms"] = 1e3 * steps.network_seconds();
  out[name + "_samples_per_s"] = static_cast<double>(sizes.batch) * ranks / seconds;
  out[name + "_touched_share"] = steps.touched_share();
  out[name + "_tables_mb"] = 1e-6 * steps.tables_bytes();
  out[name + "_dense_tables_mb"] = 1e-6 * steps.dense_tables().bytes();
  out[name + "_sent_mb"] = 1e-6 * sent(steps.tables()) / sizes.turns;
  out[name + "_dense_sent_mb"] = 1e-6 * sizeof(float) * 2.0 * (ranks - 1.0) / ranks * dense_numbers;
  context.log.info(fmt::format("{}: a step {:.3g} ms on divided tables, {:.3g} ms with dense gradients ({:.2f} x)",
                               name, 1e3 * seconds, 1e3 * median(plain), median(plain) / seconds));
  return steps.difference();
}

/// Adds figures of eager PyTorch for the same sizes; a reason in the log if it is missing.
void add_peer(const std::string& script, const Sizes& sizes, Json& out, Context& context) {
  const auto said = ask_peer(script,
                             {sizes.columns, sizes.rows, sizes.width, sizes.batch, sizes.lookup_rows,
                              sizes.lookup_width, static_cast<std::int64_t>(sizes.turns)},
                             context);
  if (!said) return;
  const Json& peer = *said;
  out["pytorch"] = peer["version"];
  out["pytorch_lookup_rows_per_s"] = peer["lookup_rows_per_s"];
  out["pytorch_dlrm_step_ms"] = peer["dlrm_step_ms"];
  out["lookup_ratio_pytorch"] = out["lookup_rows_per_s"].get<double>() / peer["lookup_rows_per_s"].get<double>();
  out["dlrm_ratio_pytorch"] = peer["dlrm_step_ms"].get<double>() / out["dlrm_step_ms"].get<double>();
}

Json measure_relate(const BenchOptions& options, Context& context) {
  const Sizes sizes = sizes_of(options);
  Json out;
  out["ranks"] = context.comm.size();
  measure_lookups(sizes, out, context);
  Clicks::Params clicks;
  clicks.made_up.emplace();
  clicks.made_up->records = batches * sizes.batch * context.comm.size();
  clicks.made_up->columns = sizes.columns;
  clicks.made_up->rows = sizes.rows;
  clicks.made_up->numbers = 13;
  Clicks data(clicks, context);
  data.open(context);
  FactorizationMachine::Params factors;
  factors.width = sizes.width;
  FactorizationMachine machine(factors, context);
  Dlrm::Params dlrm;
  dlrm.width = sizes.width;
  dlrm.bottom = dlrm.top = {64};
  Dlrm layers(dlrm, context);
  const double worst = std::max(measure_steps("factors", machine, data, sizes, out, context),
                                measure_steps("dlrm", layers, data, sizes, out, context));
  add_peer(options.text("peer"), sizes, out, context);
  const double apart = measure_cosines(options, out, context);
  out["check"] = fmt::format(
      "{}: rows after {} steps differ from those of dense gradients by {:.1e} of the largest, those of cosines from "
      "plain loops by {:.1e}",
      worst < 1e-4 && apart < 1e-4 ? "ok" : "WRONG", sizes.turns, worst, apart);
  return out;
}

}  // namespace

Bench bench_relate() {
  return {"relate",
          "rows looked up per second; steps of factors and dlrm on divided tables beside dense gradients, "
          "of cosine_factorization beside PyTorch",
          measure_relate,
          {{"columns", "tables, each of which a sample names one row of", 26},
           {"rows", "of a table, for steps", 100000},
           {"width", "numbers of a row, for steps", 16},
           {"batch", "samples of a rank in a step", 1024},
           {"lookup_rows", "of a table, for lookups", 100000},
           {"lookup_width", "numbers of a row, for lookups", 64},
           {"cosine_users", "rows of users, for cosines", 29858},
           {"cosine_items", "rows of items, for cosines", 40981},
           {"cosine_width", "numbers of a row, for cosines", 128},
           {"cosine_drawn", "items that each choice of a step is told from", 64},
           {"peer", "script that times PyTorch on one rank; none for none", "studies/relate_pytorch.py"},
           {"cosine_peer", "the same for cosines", "studies/cosines_pytorch.py"},
           {"turns", "steps and lookups by each way; medians count", 15}},
          {"columns=8", "rows=20000", "lookup_rows=20000", "turns=5", "peer=none", "cosine_users=3000",
           "cosine_items=4000", "cosine_peer=none"}};
}

}  // namespace cambium::relate
