#include "core/train/tables/pass.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.hpp"

namespace cambium::train {

namespace {

template <class T>
MPI_Datatype mpi_type() {
  return sizeof(T) == sizeof(double) ? MPI_DOUBLE : MPI_FLOAT;
}

}  // namespace

/// Request of one rank for one slice: index of the slice among all ranks, start of its row indices, and of its rows in
/// given_. Or local rows of a slice of this rank: null `numbers`, and the local slice.
template <class T>
struct TablePass<T>::Block {
  std::int64_t slice = 0;
  const std::int64_t* numbers = nullptr;
  std::int64_t from = 0;
};

template <class T>
TablePass<T>::TablePass(std::span<const TableInfo> tables, const TablePlaces& places, RowStore<T>& store,
                        bool deduplicate, const Comm& comm, Traffic& traffic, RowCoding<T>* coding)
    : tables_(tables), places_(places), store_(store), requests_(tables, places,
                                                                 deduplicate      ? RowRequests::Kind::different
                                                                 : places.whole() ? RowRequests::Kind::sums_of_whole
                                                                                  : RowRequests::Kind::members,
                                                                 !coding, comm.rank()),
      summed_(places.whole() && !deduplicate), comm_(comm), traffic_(traffic), coding_(coding) {
  for (const auto& table : tables) sums_.emplace_back(table.width);
}

template <class T>
TablePass<T>::~TablePass() {
  if (request_ != MPI_REQUEST_NULL) MPI_Wait(&request_, MPI_STATUS_IGNORE);
}

/// Exchanges the sizes of requests and responses, then the row indices.
template <class T>
void TablePass<T>::send_numbers(bool with_gradient) {
  const auto& ask = requests_.ask();
  const auto ranks = ask.size();
  std::vector<int> mine(2 * ranks), theirs(2 * ranks);
  std::vector<std::int64_t> numbers;
  std::int64_t to_others = 0;
  asked_.resize(ranks);
  for (std::size_t q = 0; q < ranks; ++q) {
    mine[2 * q] = asked_[q] = static_cast<int>(ask[q].size());
    mine[2 * q + 1] = got_count()[q];
    numbers.insert(numbers.end(), ask[q].begin(), ask[q].end());
    if (static_cast<int>(q) != comm_.rank()) to_others += asked_[q];
  }
  MPI_Alltoall(mine.data(), 2, MPI_INT, theirs.data(), 2, MPI_INT, comm_.handle());
  heard_.resize(ranks);
  given_count_.resize(ranks);
  for (std::size_t p = 0; p < ranks; ++p) {
    heard_[p] = theirs[2 * p];
    given_count_[p] = theirs[2 * p + 1];
  }
  asked_at_ = starts_of(asked_);
  heard_at_ = starts_of(heard_);
  given_at_ = starts_of(given_count_);
  got_numbers_.resize(heard_at_.back() + heard_.back());
  MPI_Alltoallv(numbers.data(), asked_.data(), asked_at_.data(), MPI_INT64_T, got_numbers_.data(), heard_.data(),
                heard_at_.data(), MPI_INT64_T, comm_.handle());
  traffic_.count("row indices", "world", to_others * static_cast<std::int64_t>(sizeof(std::int64_t)));
  if (!with_gradient) return;
  const auto& plain = requests_.of_others();
  sent_.numbers += static_cast<double>(to_others) * sizeof(std::int64_t);
  sent_.plain +=
      static_cast<double>(plain.rows) * sizeof(std::int64_t) + 2.0 * static_cast<double>(plain.numbers) * sizeof(T);
}

/// Iterates over one block: use(table, rows of one sum, its offset in given_). Returns the end of the block.
template <class T>
template <class F>
const std::int64_t* TablePass<T>::walk(const std::int64_t* at, std::int64_t from, F&& use) const {
  ++at;  // the slice index
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    const std::int64_t count = *at++;
    const std::int64_t* lengths = at;
    if (summed_) at += count;
    for (std::int64_t k = 0; k < count; ++k) {
      const auto length = summed_ ? static_cast<std::size_t>(lengths[k]) : std::size_t{1};
      use(static_cast<int>(t), {at, length}, from);
      at += length;
      from += width(t);
    }
  }
  return at;
}

/// All requested blocks, and this rank's own slices if their rows are accessed directly, in the order of slices.
template <class T>
std::vector<typename TablePass<T>::Block> TablePass<T>::blocks() const {
  std::vector<Block> out;
  for (std::size_t p = 0; p < heard_.size(); ++p) {
    const std::int64_t* at = got_numbers_.data() + heard_at_[p];
    const std::int64_t* const end = at + heard_[p];
    std::int64_t from = given_at_[p];
    while (at < end) {
      out.push_back({*at, at, from});
      at = walk(at, from,
                [&](int t, std::span<const std::int64_t>, std::int64_t here) { from = here + tables_[t].width; });
    }
  }
  for (std::size_t s = 0; s < requests_.slices() && requests_.direct(); ++s)
    out.push_back({requests_.number(s), nullptr, static_cast<std::int64_t>(s)});
  std::stable_sort(out.begin(), out.end(), [](const Block& a, const Block& b) { return a.slice < b.slice; });
  return out;
}

template <class T>
void TablePass<T>::answer() {
  given_.assign(given_at_.back() + given_count_.back(), T(0));
  for (const Block& block : blocks()) {
    if (!block.numbers) continue;
    walk(block.numbers, block.from, [&](int t, std::span<const std::int64_t> rows, std::int64_t at) {
      for (const auto row : rows) store_.add_row(t, row, given_.data() + at);
    });
  }
}

template <class T>
void TablePass<T>::send_rows(bool with_gradient) {
  MPI_Ialltoallv(given_.data(), given_count_.data(), given_at_.data(), mpi_type<T>(), got_.data(), got_count().data(),
                 got_at().data(), mpi_type<T>(), comm_.handle(), &request_);
  const auto own = static_cast<std::size_t>(comm_.rank());
  const auto bytes = (std::ssize(given_) - given_count_[own]) * static_cast<std::int64_t>(sizeof(T));
  traffic_.count("rows", "world", bytes);
  if (with_gradient) sent_.rows += static_cast<double>(bytes);
}

/// Positions of the rows of each table that one rank requests by the indices [at, end), the first one at `from`.
template <class T>
typename RowCoding<T>::Found TablePass<T>::found(const std::int64_t* at, const std::int64_t* end,
                                                 std::int64_t from) const {
  typename RowCoding<T>::Found out(tables_.size());
  while (at < end)
    at = walk(at, from, [&](int t, std::span<const std::int64_t>, std::int64_t here) {
      out[t].push_back(here);
      from = here + width(static_cast<std::size_t>(t));
    });
  return out;
}

template <class T>
void TablePass<T>::send_coded() {
  coding_->begin_step(store_, places_, comm_);
  const auto ranks = requests_.ask().size(), own = static_cast<std::size_t>(comm_.rank());
  std::vector<int> count(ranks, 0);
  lowp::ByteWriter all;
  for (std::size_t p = 0; p < ranks; ++p) {
    const std::int64_t* begin = got_numbers_.data() + heard_at_[p];
    lowp::ByteWriter out;
    coding_->encode(found(begin, begin + heard_[p], given_at_[p]), given_.data(), out);
    if (p == own) {
      std::copy_n(given_.data() + given_at_[p], given_count_[p], got_.data() + got_at()[p]);
    } else {
      count[p] = static_cast<int>(out.bytes().size());
      all.put(std::span<const std::byte>(out.bytes()));
    }
  }
  send_streams(all.take(), std::move(count));
  traffic_.count("rows", "world", std::ssize(coded_given_));
  sent_.rows += static_cast<double>(coded_given_.size());
}

template <class T>
void TablePass<T>::send_streams(std::vector<std::byte> streams, std::vector<int> count) {
  coded_given_ = std::move(streams);
  coded_count_.resize(count.size());
  MPI_Alltoall(count.data(), 1, MPI_INT, coded_count_.data(), 1, MPI_INT, comm_.handle());
  coded_at_ = starts_of(coded_count_);
  coded_got_.resize(coded_at_.back() + coded_count_.back());
  sent_at_ = starts_of(count);
  sent_count_ = std::move(count);
  MPI_Ialltoallv(coded_given_.data(), sent_count_.data(), sent_at_.data(), MPI_BYTE, coded_got_.data(),
                 coded_count_.data(), coded_at_.data(), MPI_BYTE, comm_.handle(), &request_);
}

template <class T>
std::span<const std::byte> TablePass<T>::stream_from(std::size_t rank) const {
  return std::span(coded_got_).subspan(coded_at_[rank], static_cast<std::size_t>(coded_count_[rank]));
}

template <class T>
void TablePass<T>::decode() {
  const auto& ask = requests_.ask();
  for (std::size_t q = 0; q < ask.size(); ++q)
    if (static_cast<int>(q) != comm_.rank())
      coding_->decode(found(ask[q].data(), ask[q].data() + ask[q].size(), got_at()[q]), stream_from(q), got_.data());
}

/// Like rows, including those of this rank; bounds are common to all ranks, so sums do not depend on their number.
template <class T>
void TablePass<T>::send_coded_gradients() {
  const auto& ask = requests_.ask();
  const auto own = static_cast<std::size_t>(comm_.rank());
  std::vector<typename RowCoding<T>::Found> places;
  std::vector<double> largest(tables_.size(), 0.0);
  for (std::size_t q = 0; q < ask.size(); ++q) {
    places.push_back(found(ask[q].data(), ask[q].data() + ask[q].size(), got_at()[q]));
    for (std::size_t t = 0; t < tables_.size(); ++t)
      for (const auto at : places[q][t])
        for (std::int64_t k = 0; k < width(t); ++k)
          largest[t] = std::max(largest[t], std::abs(static_cast<double>(got_[at + k])));
  }
  coding_->begin_gradients(std::move(largest), comm_);
  std::vector<int> count(ask.size(), 0);
  lowp::ByteWriter all;
  for (std::size_t q = 0; q < ask.size(); ++q) {
    lowp::ByteWriter out;
    coding_->encode_gradients(places[q], got_.data(), out);
    if (q == own) {
      std::copy_n(got_.data() + got_at()[q], got_count()[q], given_.data() + given_at_[q]);
    } else {
      count[q] = static_cast<int>(out.bytes().size());
      all.put(std::span<const std::byte>(out.bytes()));
    }
  }
  send_streams(all.take(), std::move(count));
  gradients_coded_ = true;
  traffic_.count("row gradients", "world", std::ssize(coded_given_));
  sent_.gradients += static_cast<double>(coded_given_.size());
}

template <class T>
void TablePass<T>::decode_gradients() {
  gradients_coded_ = false;
  for (std::size_t p = 0; p < heard_.size(); ++p) {
    if (static_cast<int>(p) == comm_.rank()) continue;
    const std::int64_t* begin = got_numbers_.data() + heard_at_[p];
    coding_->decode(found(begin, begin + heard_[p], given_at_[p]), stream_from(p), given_.data());
  }
}

template <class T>
void TablePass<T>::fetch(std::vector<std::vector<Bags>> slices, std::vector<std::int64_t> numbers, bool with_gradient) {
  wait_back();  // of an abandoned step
  double most = 0.0;
  for (const auto& slice : slices)
    for (std::size_t t = 0; t < tables_.size(); ++t)
      most += static_cast<double>(slice[t].ids.size()) * static_cast<double>(width(t));
  if (comm_.sum(most) > std::numeric_limits<int>::max())
    throw InputError("tables: the rows of one step are more than 2147483647 values; lower batch");
  requests_.make(std::move(slices), std::move(numbers), comm_.size());
  send_numbers(with_gradient);
  answer();
  got_.resize(got_at().back() + got_count().back());
  if (coding_ && with_gradient)
    send_coded();
  else
    send_rows(with_gradient);
  missing_ = 0;
  for (std::size_t s = 0; s < requests_.slices(); ++s) {
    if (s == slices_.size()) slices_.emplace_back(*this, s);
    slices_[s].begin();
    if (requests_.bags(s, 0).size() > 0) ++missing_;
  }
  arrived_ = false;
  sent_back_ = !with_gradient;
  coded_ = coding_ && with_gradient;
}

template <class T>
void TablePass<T>::wait() {
  if (arrived_) return;
  MPI_Wait(&request_, MPI_STATUS_IGNORE);
  arrived_ = true;
  if (coded_) decode();
}

template <class T>
TableRows& TablePass<T>::rows(int slice) {
  return slices_[slice];
}

template <class T>
void TablePass<T>::send_back() {
  if (sent_back_) return;
  sent_back_ = true;
  wait();
  std::fill(got_.begin(), got_.end(), T(0));
  for (std::size_t s = 0; s < requests_.slices(); ++s)
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      const auto gradient = slices_[s].gradient_of(t);
      const auto add_to = [&](std::int64_t bag, std::int64_t where) {
        if (where >= 0) add(width(t), gradient.data() + bag * width(t), got_.data() + where);
      };
      if (gradient.empty()) continue;
      if (!requests_.summed_there(t))
        requests_.for_members(s, t, add_to);
      else
        for (std::int64_t b = 0; b < requests_.bags(s, t).size(); ++b) add_to(b, requests_.where(s, t)[b]);
    }
  if (coding_ && coding_->codes_gradients()) return send_coded_gradients();
  MPI_Ialltoallv(got_.data(), got_count().data(), got_at().data(), mpi_type<T>(), given_.data(), given_count_.data(),
                 given_at_.data(), mpi_type<T>(), comm_.handle(), &request_);
  const auto own = static_cast<std::size_t>(comm_.rank());
  const auto bytes = (std::ssize(got_) - got_count()[own]) * static_cast<std::int64_t>(sizeof(T));
  traffic_.count("row gradients", "world", bytes);
  sent_.gradients += static_cast<double>(bytes);
}

template <class T>
void TablePass<T>::wait_back() {
  if (request_ != MPI_REQUEST_NULL) MPI_Wait(&request_, MPI_STATUS_IGNORE);
  if (gradients_coded_) decode_gradients();
}

/// Adds gradients of the local rows of one slice.
template <class T>
void TablePass<T>::add_own(std::size_t s) {
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    if (requests_.summed_there(t)) continue;
    const auto gradient = slices_[s].gradient_of(t);
    requests_.for_members(s, t, [&](std::int64_t bag, std::int64_t where) {
      if (where >= 0) return;
      T* sum = sums_[t].sum(~where);
      if (!gradient.empty()) add(width(t), gradient.data() + bag * width(t), sum);
    });
  }
}

template <class T>
void TablePass<T>::touched(const Use& use) {
  constexpr std::size_t ahead = 8;  // prefetch distance in rows
  wait_back();
  for (const Block& block : blocks())
    if (!block.numbers)
      add_own(static_cast<std::size_t>(block.from));
    else
      walk(block.numbers, block.from, [&](int t, std::span<const std::int64_t> rows, std::int64_t at) {
        auto& sums = sums_[t];
        for (const auto row : rows) add(tables_[t].width, given_.data() + at, sums.sum(row));
      });
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    auto& sums = sums_[t];
    for (std::size_t k = 0; k < sums.size(); ++k) {
      if (k + ahead < sums.size()) store_.ask_to_change(static_cast<int>(t), sums.row(k + ahead));
      use(static_cast<int>(t), sums.row(k), sums.values(k));
    }
    sums.clear();
  }
}

template <class T>
double TablePass<T>::bytes() const {
  return static_cast<double>(sizeof(T) * (got_.size() + given_.size()) + sizeof(std::int64_t) * got_numbers_.size());
}

template class TablePass<double>;
template class TablePass<float>;

}  // namespace cambium::train
