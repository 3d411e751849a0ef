#include "core/sparse/row_exchange.hpp"

#include <algorithm>

#include "core/base/counts.hpp"
#include "core/base/error.hpp"
#include "core/sparse/entries.hpp"
#include "core/sparse/messages.hpp"
#include "core/sparse/row_coder.hpp"

namespace cambium::sparse {

template <class T>
LocalRows<T> local_rows(const Csr<T>& own, std::span<const std::int64_t> first, int rank) {
  const Range mine{first[at(rank)], first[at(rank) + 1]};
  LocalRows<T> out;
  for (std::int32_t column : own.column)
    if (!mine.holds(column)) out.wanted.push_back(column);
  std::sort(out.wanted.begin(), out.wanted.end());
  out.wanted.erase(std::unique(out.wanted.begin(), out.wanted.end()), out.wanted.end());
  const auto place_of = [&](std::int32_t column) {
    if (mine.holds(column)) return static_cast<std::int32_t>(column - mine.begin);
    const auto found = std::lower_bound(out.wanted.begin(), out.wanted.end(), column);
    return static_cast<std::int32_t>(mine.size() + (found - out.wanted.begin()));
  };
  out.matrix.rows = own.rows;
  out.matrix.columns = mine.size() + std::ssize(out.wanted);
  out.matrix.start = own.start;
  for (std::int64_t i = 0; i < own.rows; ++i)
    for (bool inside : {true, false}) {
      const auto columns = own.columns_of(i);
      for (std::size_t e = 0; e < columns.size(); ++e)
        if (mine.holds(columns[e]) == inside) {
          out.matrix.column.push_back(place_of(columns[e]));
          out.matrix.value.push_back(own.values_of(i)[e]);
        }
    }
  return out;
}

template LocalRows<double> local_rows(const Csr<double>&, std::span<const std::int64_t>, int);
template LocalRows<float> local_rows(const Csr<float>&, std::span<const std::int64_t>, int);

template <class T>
struct RowExchange<T>::Work {
  struct Peer {
    int rank = 0;
    std::vector<std::int32_t> asked;  ///< own rows that it requires, relative to the first own one
    Range wanted;                     ///< of the required rows, those that it owns
    std::vector<std::byte> out, in;
  };

  Comm comm;
  Words words;
  Messages messages{comm, words};
  RowCoder<T> coder;
  std::int64_t own_rows = 0, wanted_rows = 0;
  std::vector<Peer> peers;  ///< by rank
  Rows<T> target;           ///< of the current exchange

  Work(std::span<const std::int64_t> first, std::span<const std::int32_t> wanted, lowp::WireCodec codec,
       const Comm& parent)
      : comm(parent.handle()), coder(codec, comm.rank(), comm.size()),
        own_rows(first[at(comm.rank()) + 1] - first[at(comm.rank())]), wanted_rows(std::ssize(wanted)) {
    connect(first, wanted);
  }

  /// Sends to every rank which of its rows are wanted here.
  void connect(std::span<const std::int64_t> first, std::span<const std::int32_t> wanted) {
    const auto ranks = at(comm.size());
    std::vector<int> wants(ranks, 0), asked(ranks), wants_at(ranks), asked_at(ranks);
    for (std::int32_t row : wanted) ++wants[at(range_of(first, row))];
    if (wants[at(comm.rank())] > 0) throw InternalError("row exchange: a rank requests a row that it owns");
    MPI_Alltoall(wants.data(), 1, MPI_INT, asked.data(), 1, MPI_INT, comm.handle());
    int before = 0, all = 0;
    for (std::size_t r = 0; r < ranks; ++r) {
      wants_at[r] = before;
      before += wants[r];
      asked_at[r] = all;
      all += asked[r];
    }
    std::vector<std::int32_t> rows(at(all));
    MPI_Alltoallv(wanted.data(), wants.data(), wants_at.data(), MPI_INT32_T, rows.data(), asked.data(), asked_at.data(),
                  MPI_INT32_T, comm.handle());
    for (std::size_t r = 0; r < ranks; ++r) {
      if (wants[r] == 0 && asked[r] == 0) continue;
      Peer& peer = peers.emplace_back();
      peer.rank = static_cast<int>(r);
      peer.wanted = {wants_at[r], wants_at[r] + wants[r]};
      for (int k = 0; k < asked[r]; ++k)
        peer.asked.push_back(static_cast<std::int32_t>(rows[at(asked_at[r] + k)] - first[at(comm.rank())]));
    }
  }

  Rows<T> rows_of(Rows<T> all, Range rows) const {
    return {all.data + rows.begin * all.stride, rows.size(), all.width, all.stride};
  }

  void begin(Rows<const T> own, Rows<T> wanted) {
    target = wanted;
    for (Peer& peer : peers) {
      const std::int64_t numbers = peer.wanted.size() * own.width;
      peer.in.resize(at(coder.bytes(numbers)));
      messages.receive(peer.in.data(), std::ssize(peer.in), peer.rank, numbers);
    }
    for (Peer& peer : peers) {
      peer.out.resize(at(coder.bytes(std::ssize(peer.asked) * own.width)));
      coder.encode_some(own, peer.asked, peer.out.data());
      messages.send(peer.out.data(), std::ssize(peer.out), peer.rank);
    }
  }

  void finish() {
    messages.wait();
    for (const Peer& peer : peers) coder.decode(peer.in.data(), rows_of(target, peer.wanted));
  }

  void begin_back(Rows<const T> wanted, Rows<T> own) {
    target = own;
    RowCoder<T> plain(lowp::WireCodec::none, comm.rank(), comm.size());
    for (Peer& peer : peers) {
      const std::int64_t numbers = std::ssize(peer.asked) * own.width;
      peer.in.resize(at(plain.bytes(numbers)));
      messages.receive(peer.in.data(), std::ssize(peer.in), peer.rank, numbers);
    }
    for (Peer& peer : peers) {
      const Rows<const T> part{wanted.data + peer.wanted.begin * wanted.stride, peer.wanted.size(), wanted.width,
                               wanted.stride};
      peer.out.resize(at(plain.bytes(part.rows * part.width)));
      plain.encode(part, peer.out.data());
      messages.send(peer.out.data(), std::ssize(peer.out), peer.rank);
    }
  }

  void finish_back() {
    messages.wait();
    for (const Peer& peer : peers) {
      const T* from = reinterpret_cast<const T*>(peer.in.data());
      for (std::int32_t row : peer.asked)
        for (std::int64_t k = 0; k < target.width; ++k) target.row(row)[k] += *from++;
    }
  }
};

template <class T>
RowExchange<T>::RowExchange(std::span<const std::int64_t> first, std::span<const std::int32_t> wanted,
                            lowp::WireCodec codec, const Comm& comm)
    : work_(std::make_unique<Work>(first, wanted, codec, comm)) {}
template <class T>
RowExchange<T>::~RowExchange() = default;

template <class T>
std::int64_t RowExchange<T>::own_rows() const {
  return work_->own_rows;
}
template <class T>
std::int64_t RowExchange<T>::wanted_rows() const {
  return work_->wanted_rows;
}

template <class T>
static void require(Rows<const T> own, Rows<const T> wanted, std::int64_t own_rows, std::int64_t wanted_rows) {
  if (own.rows != own_rows || wanted.rows != wanted_rows || own.width != wanted.width)
    throw InternalError("row exchange: matrices of another shape");
}

template <class T>
void RowExchange<T>::begin(Rows<const T> own, Rows<T> wanted) {
  require<T>(own, wanted, own_rows(), wanted_rows());
  work_->begin(own, wanted);
}
template <class T>
void RowExchange<T>::finish() {
  work_->finish();
}
template <class T>
void RowExchange<T>::begin_back(Rows<const T> wanted, Rows<T> own) {
  require<T>(own, wanted, own_rows(), wanted_rows());
  work_->begin_back(wanted, own);
}
template <class T>
void RowExchange<T>::finish_back() {
  work_->finish_back();
}
template <class T>
void RowExchange<T>::begin_step(std::uint64_t seed, std::int64_t step) {
  work_->coder.begin_step(seed, step);
}
template <class T>
const Words& RowExchange<T>::words() const {
  return work_->words;
}

template <class T>
std::int64_t RowExchange<T>::bytes() const {
  std::int64_t out = 0;
  for (const auto& peer : work_->peers) out += 4 * std::ssize(peer.asked) + std::ssize(peer.out) + std::ssize(peer.in);
  return out;
}

template class RowExchange<double>;
template class RowExchange<float>;

}  // namespace cambium::sparse
