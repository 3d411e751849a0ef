#include "bench/relate/cosine_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "bench/relate/peer_script.hpp"
#include "core/base/error.hpp"
#include "core/base/timing.hpp"
#include "core/parallel/random.hpp"
#include "core/train/tables/fetch_rows.hpp"
#include "plugins/relate/networks/cosine_factorization.hpp"

namespace cambium::relate {

namespace {

constexpr std::int64_t cosine_batches = 8;  // different ones, by turns
constexpr double cosine_rate = 200.0;       // by which rows move as far as they reach, so that wrong ones show

struct CosineSizes {
  std::int64_t users, items, width, drawn, batch;
  int turns;
};

CosineSizes cosine_sizes_of(const BenchOptions& options) {
  for (const char* name : {"cosine_users", "cosine_items", "cosine_width", "cosine_drawn"})
    if (options.integer(name) < 1)
      throw InputError(fmt::format("bench relate: {} is {}; give 1 or more", name, options.integer(name)));
  return {options.integer("cosine_users"), options.integer("cosine_items"), options.integer("cosine_width"),
          options.integer("cosine_drawn"), options.integer("batch"),        options.integer("turns")};
}

/// Uniformly drawn interactions, as many as all steps need.
std::shared_ptr<const ChoiceTable> drawn_choices(const CosineSizes& sizes, std::int64_t count) {
  auto out = std::make_shared<ChoiceTable>();
  out->source = "made choices";
  out->users = sizes.users;
  out->items = sizes.items;
  out->training.resize(sizes.users);
  for (std::int64_t k = 0; k < count; ++k) {
    const Random4 draw(3, Stream::test, static_cast<std::uint64_t>(k), 0);
    auto& list = out->training[draw.uniform(0) * static_cast<double>(sizes.users)];
    const auto item = static_cast<std::int32_t>(draw.uniform(1) * static_cast<double>(sizes.items));
    const auto at = std::ranges::lower_bound(list, item);
    if (at == list.end() || *at != item) list.insert(at, item);
  }
  return out;
}

class HeldChoices : public train::Dataset {
 public:
  explicit HeldChoices(const std::shared_ptr<const ChoiceTable>& table)
      : records_(share(choice_records(table, Role::training, 0, 1))) {}
  void open(Context&) override {}
  std::int64_t size() const override { return records_->size(); }
  std::vector<train::FieldInfo> fields() const override { return fields_of(*records_); }
  std::vector<train::SamplePtr> read(std::span<const std::int64_t> ids) override {
    std::vector<train::SamplePtr> out;
    for (const auto id : ids) out.push_back(sample_of(records_, id));
    return out;
  }
  const RecordSet& records() const { return *records_; }

 private:
  RecordPtr records_;
};

/// The loss and its derivatives pair by pair, in double, on local tables.
class PlainSteps {
 public:
  PlainSteps(std::vector<double> users, std::vector<double> items, std::int64_t width, double margin)
      : width_(width), margin_(margin), users_(std::move(users)), items_(std::move(items)) {}

  /// One step on interactions (user, item) with drawn negatives, without those that the user chose.
  void step(const ChoiceTable& table, const std::vector<std::array<std::int32_t, 2>>& choices,
            const std::vector<std::int32_t>& drawn) {
    by_users_.assign(users_.size(), 0.0);
    by_items_.assign(items_.size(), 0.0);
    for (const auto& [user, item] : choices) {
      std::vector<std::int32_t> others;
      for (const auto other : drawn)
        if (!table.chose(Role::training, user, other)) others.push_back(other);
      pair(user, item, -1.0, false);
      for (const auto other : others) pair(user, other, 1.0 / static_cast<double>(others.size()), true);
    }
    const double by = cosine_rate / static_cast<double>(choices.size());
    for (std::size_t k = 0; k < users_.size(); ++k) users_[k] -= by * by_users_[k];
    for (std::size_t k = 0; k < items_.size(); ++k) items_[k] -= by * by_items_[k];
  }
  const std::vector<double>& users() const { return users_; }
  const std::vector<double>& items() const { return items_; }

 private:
  /// Adds `factor` times the derivatives of a cosine; with `above` nothing for one below the margin.
  void pair(std::int32_t user, std::int32_t item, double factor, bool above) {
    const double *u = &users_[at(user)], *i = &items_[at(item)];
    double uu = 0.0, ii = 0.0, ui = 0.0;
    for (std::int64_t k = 0; k < width_; ++k) {
      uu += u[k] * u[k];
      ii += i[k] * i[k];
      ui += u[k] * i[k];
    }
    const double lengths = std::sqrt(uu * ii), cosine = ui / lengths;
    if (above && cosine <= margin_) return;
    for (std::int64_t k = 0; k < width_; ++k) {
      by_users_[at(user) + static_cast<std::size_t>(k)] += factor * (i[k] / lengths - cosine * u[k] / uu);
      by_items_[at(item) + static_cast<std::size_t>(k)] += factor * (u[k] / lengths - cosine * i[k] / ii);
    }
  }
  std::size_t at(std::int32_t row) const { return static_cast<std::size_t>(row * width_); }

  std::int64_t width_;
  double margin_;
  std::vector<double> users_, items_, by_users_, by_items_;
};

class CosineSteps {
 public:
  CosineSteps(const CosineSizes& sizes, Context& context)
      : sizes_(sizes), context_(context),
        table_(drawn_choices(sizes, 2 * cosine_batches * sizes.batch * context.comm.size())), data_(table_),
        network_(params(sizes), context) {
    if (data_.size() < sizes.batch * context.comm.size())
      throw InputError(
          fmt::format("bench relate: {} users and {} items have too few pairs for a batch of {}; raise cosine_users or "
                      "cosine_items, or lower batch",
                      sizes.users, sizes.items, sizes.batch));
    network_.fit_statistics(data_, context);
    train::TableKeys keys;
    keys.optimizer = train::TableKeys::Rule::sgd;
    tables_ = train::make_tables(network_.tables(), keys, DType::f32, context);
    tables_->start(1);
  }
  /// The samples of this rank, taken from all over, so that users differ.
  std::vector<std::int64_t> numbers(std::size_t turn, std::int64_t rank) const {
    const std::int64_t apart = data_.size() / sizes_.batch;
    std::vector<std::int64_t> out;
    for (std::int64_t s = 0; s < sizes_.batch; ++s)
      out.push_back(s * apart +
                    (static_cast<std::int64_t>(turn) % cosine_batches * context_.comm.size() + rank) % apart);
    return out;
  }
  void prepare(std::size_t turn) { samples_ = data_.read(numbers(turn, context_.comm.rank())); }
  void step(std::size_t turn) {
    const std::span<const train::SamplePtr> slice[] = {samples_};
    const std::int64_t number[] = {context_.comm.rank()};
    const double one[] = {1.0};
    std::vector<train::TermSum> terms(1);
    network_.begin_step(1, static_cast<std::int64_t>(turn));
    train::fetch_rows(network_, tables_.get(), slice, number, context_.comm);
    network_.use_rows(&tables_->rows(0));
    network_.gradient(samples_, {}, one, {}, terms, {});
    tables_->send_back();
    tables_->step(1.0 / static_cast<double>(sizes_.batch * context_.comm.size()), cosine_rate);
  }
  /// Choices of all ranks, and the items that a step draws.
  std::vector<std::array<std::int32_t, 2>> choices(std::size_t turn) const {
    std::vector<std::array<std::int32_t, 2>> out;
    for (int rank = 0; rank < context_.comm.size(); ++rank)
      for (const auto id : numbers(turn, rank))
        out.push_back({data_.records().bag_of(id, 0)[0], data_.records().bag_of(id, 1)[0]});
    return out;
  }
  std::vector<std::int32_t> drawn(std::size_t turn) {
    ChoiceRows rows(sizes_.width, 0.0);
    rows.fit(*table_);
    rows.draw(sizes_.drawn, 1, turn);
    const auto one = data_.read(std::vector<std::int64_t>{0});
    const auto items = rows.bags(one)[1].ids;
    return {items.begin() + 1, items.end()};
  }
  std::vector<double> rows_of(std::size_t table) {
    std::vector<train::Bags> bags(2);
    for (std::size_t t = 0; t < 2; ++t)
      for (std::int64_t r = 0; r < tables_->infos()[table].rows; ++r) {
        const auto row = static_cast<std::int32_t>(r);
        bags[t].add(t == table ? std::span(&row, 1) : std::span<const std::int32_t>());
      }
    tables_->look_up(std::move(bags));
    const TensorRef all = tables_->looked_up().pooled(static_cast<int>(table));
    const auto* begin = static_cast<const float*>(all.data);
    return {begin, begin + all.elements()};
  }
  const ChoiceTable& table() const { return *table_; }
  static constexpr double margin = 0.0;

 private:
  static CosineFactorization::Params params(const CosineSizes& sizes) {
    CosineFactorization::Params out;
    out.width = sizes.width;
    out.drawn = sizes.drawn;
    out.reach = 1.0;
    out.loss.kind = ContrastLoss::Kind::margin;
    out.loss.margin = margin;
    return out;
  }

  CosineSizes sizes_;
  Context& context_;
  std::shared_ptr<const ChoiceTable> table_;
  HeldChoices data_;
  CosineFactorization network_;
  std::unique_ptr<train::Tables> tables_;
  std::vector<train::SamplePtr> samples_;
};

double median_ms(std::vector<double> seconds) {
  std::ranges::sort(seconds);
  return 1e3 * seconds[seconds.size() / 2];
}

double difference(const std::vector<double>& ours, const std::vector<double>& plain) {
  double worst = 0.0, largest = 1e-30;
  for (std::size_t k = 0; k < ours.size(); ++k) {
    worst = std::max(worst, std::abs(ours[k] - plain[k]));
    largest = std::max(largest, std::abs(plain[k]));
  }
  return worst / largest;
}

void add_cosine_peer(const BenchOptions& options, const CosineSizes& sizes, nlohmann::json& out, Context& context) {
  const auto peer = ask_peer(options.text("cosine_peer"),
                             {sizes.users, sizes.items, sizes.width, sizes.batch, sizes.drawn, sizes.turns}, context);
  if (!peer) return;
  const double bmm = peer->at("bmm_step_ms"), shared = peer->at("shared_step_ms"), ours = out["cosines_step_ms"];
  out["pytorch_cosines_bmm_step_ms"] = bmm;
  out["cosines_ratio_pytorch"] = bmm / ours;
  out["pytorch_cosines_shared_step_ms"] = shared;
  out["cosines_ratio_pytorch_shared"] = shared / ours;
}

}  // namespace

double measure_cosines(const BenchOptions& options, nlohmann::json& out, Context& context) {
  const CosineSizes sizes = cosine_sizes_of(options);
  CosineSteps steps(sizes, context);
  PlainSteps plain(steps.rows_of(0), steps.rows_of(1), sizes.width, CosineSteps::margin);
  std::vector<double> ours;
  for (int t = 0; t < sizes.turns; ++t) {
    const auto turn = static_cast<std::size_t>(t);
    steps.prepare(turn);
    context.comm.barrier();
    const double start = wall_seconds();
    steps.step(turn);
    ours.push_back(context.comm.max(wall_seconds() - start));
    const auto choices = steps.choices(turn);
    const auto drawn = steps.drawn(turn);
    plain.step(steps.table(), choices, drawn);
  }
  out["cosines_step_ms"] = median_ms(ours);
  out["cosines_per_s"] =
      static_cast<double>(sizes.batch * context.comm.size() * (sizes.drawn + 1)) / (1e-3 * median_ms(ours));
  add_cosine_peer(options, sizes, out, context);
  context.log.info(fmt::format(
      "cosine_factorization: a step {:.3g} ms{}", median_ms(ours),
      out.contains("cosines_ratio_pytorch")
          ? fmt::format(", PyTorch {:.2f} x that by batched products, {:.2f} x by one",
                        out["cosines_ratio_pytorch"].get<double>(), out["cosines_ratio_pytorch_shared"].get<double>())
          : ""));
  return std::max(difference(steps.rows_of(0), plain.users()), difference(steps.rows_of(1), plain.items()));
}

}  // namespace cambium::relate
