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

/// Embedding tables of one network, sharded over the ranks of a communicator. Every rank makes the same calls in the
/// same order. A pass starts with fetch(); then networks read rows(k) of each slice; a pass with gradients ends with
/// send_back() and step().
class Tables {
 public:
  virtual ~Tables() = default;

  virtual const std::vector<TableInfo>& infos() const = 0;
  virtual const TablePlaces& places() const = 0;
  /// Initial values, the same for any number of ranks.
  virtual void start(std::uint64_t seed) = 0;

  /// Collective. Requests the rows of slices: for each slice, by table, the bags of its samples; `numbers`: indices of
  /// these slices among all ranks.
  virtual void fetch(std::vector<std::vector<Bags>> slices, std::vector<std::int64_t> numbers) = 0;
  virtual TableRows& rows(int slice) = 0;
  /// Collective, once all slices are computed.
  virtual void send_back() = 0;
  /// Updates touched rows by `factor` times the sum of their gradients.
  virtual void step(double factor, double rate) = 0;

  /// Collective: read-only rows for samples without gradient. Does not affect the rows of fetch().
  virtual void look_up(std::vector<Bags> bags) = 0;
  virtual TableRows& looked_up() = 0;

  /// Stores a copy of the rows as those of the best model; and uses it from now on, in look_up() and files.
  virtual void keep_best() = 0;

  /// Files contain every table in full, (rows, width), under /rows/<table>: weights, and for a restart also states and
  /// best.
  enum class For { model, best_model, restart, restart_with_best };
  /// On rank 0, while all others are in serve(): row blocks arrive one by one, so no rank holds an entire table.
  virtual void write(io::File& file, For what) = 0;
  /// On the others: sends rows until rank 0 calls end_serving().
  virtual void serve() = 0;
  virtual void end_serving() = 0;
  /// Reads this rank's rows, without communication. InputError for tables of different sizes.
  virtual void read(const io::File& file, For what) = 0;

  virtual const Traffic& traffic() const = 0;
  /// Time in s waited for rows with nothing left to compute, excluding the passes that measure the full wait.
  virtual double exposed_seconds() const = 0;
  /// Collective. Lines for the stage summary: distribution of rows and the hidden fraction of their exchange.
  virtual std::vector<std::string> report() = 0;
  virtual std::vector<Citation> citations() const = 0;
};

/// Collective. Tables of a network in f64 or f32, initially zero. InputError if the ranks do not have enough memory.
std::unique_ptr<Tables> make_tables(std::vector<TableInfo> tables, const TableKeys& keys, DType dtype,
                                    Context& context);

/// Scope around io::on_root(): rank 0 writes files with rows inside it, the others serve rows in its constructor until
/// that is done, also if rank 0 throws. No effect without tables.
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
