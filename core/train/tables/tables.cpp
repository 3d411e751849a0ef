#include "core/train/tables/tables.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/timing.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/parallel/memory.hpp"
#include "core/train/tables/pass.hpp"
#include "core/train/tables/pieces.hpp"
#include "core/train/tables/row_rule.hpp"

namespace cambium::train {

namespace {

/// Waiting time for row messages: most passes overlap with computation; every `every`-th does not, which measures the
/// hidden time.
struct Waits {
  static constexpr std::int64_t every = 64;
  std::int64_t passes = 0, behind = 0, bare = 0;
  double behind_seconds = 0.0, bare_seconds = 0.0;

  bool is_bare() const { return passes % every == 0; }
  void add(double seconds) { (is_bare() ? bare_seconds : behind_seconds) += seconds; }
  void next() { ++(is_bare() ? bare : behind), ++passes; }
};

template <class T>
class DividedTables : public Tables {
 public:
  DividedTables(std::vector<TableInfo> tables, const TableKeys& keys, const Comm& world)
      : keys_(keys), infos_(std::move(tables)), comm_(world.handle()), places_(infos_, keys.divide, comm_.size()),
        store_(infos_, places_, keys.optimizer, comm_.rank()), pieces_(infos_, places_, store_, comm_),
        coding_(keys.code ? std::make_unique<RowCoding<T>>(infos_, *keys.code) : nullptr),
        pass_(infos_, places_, store_, keys.deduplicate.value_or(false), comm_, traffic_, coding_.get()),
        look_(infos_, places_, store_, keys.deduplicate.value_or(false), comm_, looked_traffic_) {}

  const std::vector<TableInfo>& infos() const override { return infos_; }
  const TablePlaces& places() const override { return places_; }
  void start(std::uint64_t seed) override { store_.start(seed); }

  void fetch(std::vector<std::vector<Bags>> slices, std::vector<std::int64_t> numbers) override {
    pass_.fetch(std::move(slices), std::move(numbers), true);
    largest_ = std::max(largest_, pass_.bytes());
    if (waits_.is_bare()) timed([&] { pass_.wait(); });
  }
  TableRows& rows(int slice) override {
    timed_.inner = &pass_.rows(slice);
    timed_.owner = this;
    return timed_;
  }
  void send_back() override {
    pass_.send_back();
    if (waits_.is_bare()) timed([&] { pass_.wait_back(); });
  }
  void step(double factor, double rate) override {
    timed([&] { pass_.wait_back(); });
    waits_.next();
    pass_.touched([&](int table, std::int64_t index, T* gradient) {
      const std::int64_t width = infos_[table].width;
      for (std::int64_t k = 0; k < width; ++k) gradient[k] *= static_cast<T>(factor);
      store_.update(table, index, keys_, rate * keys_.rate, gradient);
    });
  }

  void look_up(std::vector<Bags> bags) override {
    std::vector<std::vector<Bags>> one;
    one.push_back(std::move(bags));
    look_.fetch(std::move(one), {comm_.rank()}, false);
    look_.wait();
  }
  TableRows& looked_up() override { return look_.rows(0); }
  void keep_best() override { store_.keep_best(); }

  void write(io::File& file, For what) override {
    using Part = typename RowStore<T>::Part;
    pieces_.write(file, what == For::best_model ? Part::best : Part::weights, "weights");
    if (what == For::model || what == For::best_model) return;
    pieces_.write(file, Part::states, "states");
    if (coding_) file.write("/row_code", coding_->state());
    if (what == For::restart_with_best) pieces_.write(file, Part::best, "best");
  }
  void serve() override { pieces_.serve(); }
  void end_serving() override { pieces_.end_serving(); }
  void read(const io::File& file, For what) override {
    using Part = typename RowStore<T>::Part;
    pieces_.read(file, Part::weights, "weights");
    if (what == For::model || what == For::best_model) return;
    pieces_.read(file, Part::states, "states");
    if (coding_ && file.exists("/row_code")) coding_->restore(file.read<std::vector<double>>("/row_code"));
    if (what == For::restart_with_best) pieces_.read(file, Part::best, "best");
  }

  const Traffic& traffic() const override { return traffic_; }
  double exposed_seconds() const override { return waits_.behind_seconds; }
  std::vector<std::string> report() override;
  std::vector<Citation> citations() const override { return citations_of(keys_.optimizer); }

 private:
  /// A slice's rows, with its first call timed.
  struct Timed : TableRows {
    TableRows* inner = nullptr;
    DividedTables* owner = nullptr;
    TensorRef pooled(int table) override {
      owner->timed([&] { owner->pass_.wait(); });
      return inner->pooled(table);
    }
    TensorRef gradient(int table) override { return inner->gradient(table); }
    void ready() override { inner->ready(); }
  };
  template <class F>
  void timed(F&& wait) {
    const double begun = wall_seconds();
    wait();
    waits_.add(wall_seconds() - begun);
  }

  std::string exchange_text() const;

  TableKeys keys_;
  std::vector<TableInfo> infos_;
  Comm comm_;
  TablePlaces places_;
  RowStore<T> store_;
  TablePieces<T> pieces_;
  Traffic traffic_, looked_traffic_;
  std::unique_ptr<RowCoding<T>> coding_;
  TablePass<T> pass_, look_;
  Waits waits_;
  Timed timed_;
  double largest_ = 0.0;
};

/// Bytes of the entire exchange: row indices and gradients are as large as the rows, so the compression of rows alone
/// is not representative.
template <class T>
std::string DividedTables<T>::exchange_text() const {
  const auto& own = pass_.sent();
  const double numbers = comm_.sum(own.numbers), rows = comm_.sum(own.rows), gradients = comm_.sum(own.gradients),
               plain = comm_.sum(own.plain), sent = numbers + rows + gradients;
  if (sent <= 0.0) return {};
  return fmt::format(
      "exchange between ranks: row indices {}, rows {}, row gradients {}, together {}; without deduplication and codec "
      "{}, ratio {:.2f}",
      bytes_text(numbers), bytes_text(rows), bytes_text(gradients), bytes_text(sent), bytes_text(plain), plain / sent);
}

template <class T>
std::vector<std::string> DividedTables<T>::report() {
  const double own = store_.bytes(), all = comm_.sum(own), most = comm_.max(own);
  double rows = 0.0;
  for (const auto& table : infos_) rows += static_cast<double>(table.rows);
  std::vector<std::string> out{fmt::format(
      "tables: {} with {:.4g} rows, {}; {} on {} ranks, {} on the fullest ({:.3f} of the mean); messages of "
      "a step take {}",
      infos_.size(), rows, places_.whole() ? "whole tables by size" : "rows by turns", bytes_text(all), comm_.size(),
      bytes_text(most), all > 0.0 ? most * comm_.size() / all : 1.0, bytes_text(comm_.max(largest_)))};
  if (coding_) {
    const double before = comm_.sum(coding_->bytes_before()), after = comm_.sum(coding_->bytes_after());
    out.push_back(fmt::format("rows encoded: {} became {}, ratio {:.2f}; {}", bytes_text(before), bytes_text(after),
                              after > 0.0 ? before / after : 1.0, coding_->text()));
  }
  if (const auto line = exchange_text(); !line.empty()) out.push_back(line);
  const double bare = comm_.sum(waits_.bare_seconds), behind = comm_.sum(waits_.behind_seconds);
  if (comm_.size() == 1 || waits_.bare == 0 || waits_.behind == 0 || bare <= 0.0) return out;
  const double ranks = comm_.size(), each_bare = bare / static_cast<double>(waits_.bare) / ranks,
               each = behind / static_cast<double>(waits_.behind) / ranks;
  out.push_back(
      fmt::format("exchange of rows: {:.3g} ms a step with nothing to compute meanwhile, {:.3g} ms waited "
                  "otherwise; {:.1f} % hidden",
                  1e3 * each_bare, 1e3 * each, 100.0 * std::clamp(1.0 - each / each_bare, 0.0, 1.0)));
  return out;
}

}  // namespace

std::unique_ptr<Tables> make_tables(std::vector<TableInfo> tables, const TableKeys& keys, DType dtype,
                                    Context& context) {
  const TablePlaces places(tables, keys.divide, context.comm.size());
  double own = 0.0, rows = 0.0, largest = 0.0;
  for (int t = 0; t < std::ssize(tables); ++t) {
    const TableInfo& info = tables[t];
    const double numbers = static_cast<double>(info.width + state_width(keys.optimizer, info.width));
    const double row =
        numbers * (keys.optimizer == TableKeys::Rule::split_sgd ? 2.0 : static_cast<double>(size_of(dtype)));
    own += row * static_cast<double>(places.held(t, context.comm.rank()));
    rows += static_cast<double>(info.rows);
    largest = std::max(largest, row * static_cast<double>(info.rows));
  }
  const auto remedy = places.whole() ? fmt::format(
                                           "the largest table takes {}, which more ranks do not change; take tables: "
                                           "{{sharding: rows}} and more nodes, or a smaller width",
                                           bytes_text(largest))
                                     : std::string("run on more nodes, or take a smaller width or fewer rows");
  require_memory(own, fmt::format("tables with {:.4g} rows", rows), remedy, context);
  if (dtype == DType::f64) return std::make_unique<DividedTables<double>>(std::move(tables), keys, context.comm);
  return std::make_unique<DividedTables<float>>(std::move(tables), keys, context.comm);
}

}  // namespace cambium::train
