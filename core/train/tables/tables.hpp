#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/citation.hpp"
#include "core/parallel/context.hpp"
#include "core/train/kinds/tables.hpp"
#include "core/train/reduce/traffic.hpp"
#include "core/train/tables/places.hpp"

namespace cambium::io {
class File;
class Group;
}  // namespace cambium::io

namespace cambium::train {

/// The tables of one network, divided among the ranks of a communicator. Every rank makes the same calls in the same
/// order. Of a pass, fetch() comes first; then networks read rows(k) of each slice; after a pass with gradients
/// send_back() and step().
class Tables {
 public:
  virtual ~Tables() = default;

  virtual const std::vector<TableInfo>& infos() const = 0;
  virtual const TablePlaces& places() const = 0;
  /// First values, the same for any number of ranks.
  virtual void start(std::uint64_t seed) = 0;

  /// Collective. Asks for the rows of slices: of each, by table, the bags of its samples; `numbers`: of these slices
  /// among those of all ranks.
  virtual void fetch(std::vector<std::vector<Bags>> slices, std::vector<std::int64_t> numbers) = 0;
  virtual TableRows& rows(int slice) = 0;
  /// Collective, once all slices are computed.
  virtual void send_back() = 0;
  /// Changes the rows that were touched by `factor` times the sum of their gradients.
  virtual void step(double factor, double rate) = 0;

  /// Collective: rows to look at, of samples that need no gradient. Leaves what fetch() brought as it is.
  virtual void look_up(std::vector<Bags> bags) = 0;
  virtual TableRows& looked_up() = 0;

  /// Keeps the rows beside themselves, as those of the best model; and shows these from now on, in look_up() and files.
  virtual void keep_best() = 0;

  /// Files hold every table whole, (rows, width), under /rows/<table>: weights, and for a run to go on states and best.
  enum class For { model, best_model, restart, restart_with_best };
  /// On rank 0, while all others are in serve(): row blocks come one by one, so that no rank holds a whole table.
  virtual void write(io::File& file, For what) = 0;
  /// On the others: sends rows until rank 0 calls end_serving().
  virtual void serve() = 0;
  virtual void end_serving() = 0;
  /// This rank's rows; no messages. InputError for tables of other sizes.
  virtual void read(const io::File& file, For what) = 0;

  virtual const Traffic& traffic() const = 0;
  /// s waited for rows with nothing left to compute, not counting the passes by which the whole wait is known.
  virtual double exposed_seconds() const = 0;
  /// Collective. Lines for the last page: how rows are divided and which share of their exchange is hidden.
  virtual std::vector<std::string> report() = 0;
  virtual std::vector<Citation> citations() const = 0;
};

/// Collective. Tables of a network in f64 or f32, zeros at first. InputError when no set of ranks has room for them.
std::unique_ptr<Tables> make_tables(std::vector<TableInfo> tables, const TableKeys& keys, DType dtype,
                                    Context& context);

/// Rank 0 within it writes files with rows, the others wait in its constructor until that is done: around
/// io::on_root(), so that they are let go when it throws, too. Nothing happens without tables.
class ServingRows {
 public:
  ServingRows(Tables* tables, const Comm& comm) : tables_(tables), root_(comm.root()) {
    if (tables_ && !root_) tables_->serve();
  }
  /// On rank 0, within on_root().
  struct Root {
    explicit Root(ServingRows& rows) : rows_(rows) {}
    ~Root() {
      if (rows_.tables_ && rows_.root_) rows_.tables_->end_serving();
    }
    ServingRows& rows_;
  };

 private:
  Tables* tables_;
  bool root_;
};

}  // namespace cambium::train
