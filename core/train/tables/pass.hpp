#pragma once
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/train/reduce/traffic.hpp"
#include "core/train/tables/row_coding.hpp"
#include "core/train/tables/row_requests.hpp"
#include "core/train/tables/row_store.hpp"
#include "core/train/tables/touched_rows.hpp"

namespace cambium::train {

/// Adds `width` values.
template <class T>
void add(std::int64_t width, const T* from, T* to) {
  for (std::int64_t k = 0; k < width; ++k) to[k] += from[k];
}

/// One exchange of embedding rows between the ranks that need them and those that store them, in T. Row indices are
/// sent first; rows, or sums of bags where a rank stores entire tables, are returned while the network computes. Their
/// gradients are sent back and added row by row in the order of the slices of the global batch and of the samples in
/// them, so sums do not depend on the number of ranks. Local rows are not sent: they are read in place, and their
/// gradients added directly from the slice (coded or with `deduplicate` they are handled like remote ones).
template <class T>
class TablePass {
 public:
  /// All arguments must outlive this. Rows are encoded if there is a `coding`.
  TablePass(std::span<const TableInfo> tables, const TablePlaces& places, RowStore<T>& store, bool deduplicate,
            const Comm& comm, Traffic& traffic, RowCoding<T>* coding = nullptr);
  ~TablePass();
  TablePass(const TablePass&) = delete;
  TablePass& operator=(const TablePass&) = delete;

  /// Collective: requests the rows of this rank's slices (any number of them, each with a bag per table and sample),
  /// and starts sending the rows that others request. `numbers`: indices of these slices among all ranks.
  void fetch(std::vector<std::vector<Bags>> slices, std::vector<std::int64_t> numbers, bool with_gradient);
  /// Waits until the rows have arrived.
  void wait();
  /// Rows of slice k for the network.
  TableRows& rows(int slice);
  /// Collective, once after fetch(): starts sending the gradients, unless the ready() of the last slice has done so.
  void send_back();
  void wait_back();
  /// Called for each local row that the step touched, with the sum of its gradients; after send_back().
  using Use = std::function<void(int table, std::int64_t index, T* gradient)>;
  void touched(const Use& use);

  /// Bytes that this rank has sent in passes with gradients, and `plain`: bytes it would have sent or requested if
  /// every member of a bag (or every sum of an entire table) were sent separately, unencoded.
  struct Sent {
    double numbers = 0.0, rows = 0.0, gradients = 0.0, plain = 0.0;
  };
  const Sent& sent() const { return sent_; }
  /// Bytes of the buffers of the last fetch().
  double bytes() const;

 private:
  class Slice;
  struct Block;
  void send_numbers(bool with_gradient);
  void answer();
  void send_rows(bool with_gradient);
  void send_coded();
  void send_coded_gradients();
  /// Starts sending a stream to each rank, one after the other in coded_given_.
  void send_streams(std::vector<std::byte> streams, std::vector<int> count);
  std::span<const std::byte> stream_from(std::size_t rank) const;
  void decode();
  void decode_gradients();
  typename RowCoding<T>::Found found(const std::int64_t* at, const std::int64_t* end, std::int64_t from) const;
  std::vector<Block> blocks() const;
  template <class F>
  const std::int64_t* walk(const std::int64_t* at, std::int64_t from, F&& use) const;
  void add_own(std::size_t slice);
  const std::vector<int>& got_count() const { return requests_.answer_count(); }
  const std::vector<int>& got_at() const { return requests_.answer_start(); }
  std::int64_t width(std::size_t table) const { return tables_[table].width; }

  std::span<const TableInfo> tables_;
  const TablePlaces& places_;
  RowStore<T>& store_;
  RowRequests requests_;
  bool summed_;  ///< others request sums of bags
  const Comm& comm_;
  Traffic& traffic_;
  RowCoding<T>* coding_;

  std::vector<std::int64_t> got_numbers_;                 ///< received from others
  std::vector<int> asked_, asked_at_, heard_, heard_at_;  ///< indices sent and received, by rank
  std::vector<int> given_count_, given_at_;
  std::vector<T> got_, given_;  ///< rows received by this rank and sent by it; then gradients, in reverse
  std::vector<std::byte> coded_got_, coded_given_;
  std::vector<int> coded_count_, coded_at_, sent_count_, sent_at_;  ///< in coded_got_ and coded_given_, by rank
  std::vector<Slice> slices_;
  std::vector<TouchedRows<T>> sums_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  bool arrived_ = true, sent_back_ = true, coded_ = false, gradients_coded_ = false;
  Sent sent_;
  int missing_ = 0;  ///< slices whose gradients are not final
};

/// View of a slice in a pass.
template <class T>
class TablePass<T>::Slice : public TableRows {
 public:
  Slice(TablePass& pass, std::size_t number)
      : pass_(&pass), number_(number), pooled_(pass.tables_.size()), gradient_(pass.tables_.size()) {}
  /// Prepares for a new fetch(): nothing is summed yet.
  void begin();
  TensorRef pooled(int table) override;
  TensorRef gradient(int table) override;
  void ready() override;
  /// Empty if the network requested none.
  std::span<const T> gradient_of(std::size_t table) const { return gradient_[table].numbers(); }

 private:
  /// Values whose memory is reused from pass to pass.
  struct Kept {
    std::vector<T> held;
    bool there = false;
    std::span<const T> numbers() const { return there ? std::span<const T>(held) : std::span<const T>(); }
  };
  void add_up(std::size_t table, T* out) const;
  TensorRef view(Kept& kept, std::size_t table) const;
  std::int64_t numbers_of(std::size_t table) const {
    return pass_->requests_.bags(number_, table).size() * pass_->width(table);
  }
  TablePass* pass_;
  std::size_t number_;
  std::vector<Kept> pooled_, gradient_;
};

extern template class TablePass<double>;
extern template class TablePass<float>;

}  // namespace cambium::train
