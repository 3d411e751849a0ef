#include "core/train/tables/pass.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "core/base/error.hpp"

namespace cambium::train {

namespace {

template <class T>
MPI_Datatype mpi_type() {
  return sizeof(T) == sizeof(double) ? MPI_DOUBLE : MPI_FLOAT;
}

/// Sums of all before each.
std::vector<int> starts_of(const std::vector<int>& counts) {
  std::vector<int> out(counts.size(), 0);
  for (std::size_t k = 1; k < counts.size(); ++k) out[k] = out[k - 1] + counts[k - 1];
  return out;
}

}  // namespace

/// What one rank asked for one slice: its place among the slices of all ranks, where its numbers begin, and where its
/// rows do in given_. Or the own rows of a slice of this rank: no numbers, and which slice of this rank.
template <class T>
struct TablePass<T>::Block {
  std::int64_t slice = 0;
  const std::int64_t* numbers = nullptr;
  std::int64_t from = 0;
};

template <class T>
TablePass<T>::TablePass(std::span<const TableInfo> tables, const TablePlaces& places, RowStore<T>& store,
                        bool deduplicate, const Comm& comm, Traffic& traffic, RowCoding<T>* coding)
    : tables_(tables), places_(places), store_(store), deduplicate_(deduplicate),
      summed_there_(places.whole() && !deduplicate), direct_(!deduplicate && !coding), comm_(comm), traffic_(traffic),
      coding_(coding) {
  for (const auto& table : tables) sums_.emplace_back(table.width);
}

template <class T>
TablePass<T>::~TablePass() {
  if (request_ != MPI_REQUEST_NULL) MPI_Wait(&request_, MPI_STATUS_IGNORE);
}

/// Numbers for each rank that is asked: for every slice its number, then for every table how many sums are asked for,
/// how many rows each of them has where it is not one, and the rows' numbers at their owner.
template <class T>
void TablePass<T>::ask_for_all() {
  for (std::size_t s = 0; s < bags_.size(); ++s) {
    for (std::size_t q = 0; q < ask_.size(); ++q)
      if (is_asked(q)) ask_[q].push_back(numbers_[s]);
    for (std::size_t t = 0; t < tables_.size(); ++t)
      if (summed_there_ && !is_own(t, 0))
        ask_for_sums(s, t);
      else
        ask_for_rows(s, t);
  }
}

template <class T>
void TablePass<T>::ask_for_sums(std::size_t s, std::size_t t) {
  const Bags& bags = bags_[s][t];
  const auto holder = static_cast<std::size_t>(owner(t, 0));
  for (std::size_t q = 0; q < ask_.size(); ++q)
    if (is_asked(q)) ask_[q].push_back(q == holder ? bags.size() : 0);
  auto& to = ask_[holder];
  for (std::size_t b = 0; b + 1 < bags.first.size(); ++b) {
    to.push_back(bags.first[b + 1] - bags.first[b]);
    where_[s][t].push_back(got_count_[holder]);
    got_count_[holder] += static_cast<int>(width(t));
  }
  to.insert(to.end(), bags.ids.begin(), bags.ids.end());
}

template <class T>
void TablePass<T>::ask_for_rows(std::size_t s, std::size_t t) {
  const Bags& bags = bags_[s][t];
  std::vector<std::size_t> count(ask_.size());
  for (std::size_t q = 0; q < ask_.size(); ++q)
    if (is_asked(q)) count[q] = ask_[q].size(), ask_[q].push_back(0);
  auto& where = where_[s][t];
  where.reserve(bags.ids.size());
  for (const auto row : bags.ids) {
    const auto q = static_cast<std::size_t>(owner(t, row));
    if (!is_asked(q)) {
      where.push_back(~places_.index(row));
      continue;
    }
    ++ask_[q][count[q]];
    ask_[q].push_back(places_.index(row));
    where.push_back(got_count_[q]);
    got_count_[q] += static_cast<int>(width(t));
  }
}

/// The same as one slice in which every row stands once.
template <class T>
void TablePass<T>::ask_for_different() {
  if (bags_.empty()) return;
  for (auto& to : ask_) to.push_back(numbers_[0]);
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    std::unordered_map<std::int64_t, std::int64_t> known;
    std::vector<std::vector<std::int64_t>> rows(ask_.size());
    for (std::size_t s = 0; s < bags_.size(); ++s) {
      for (const auto row : bags_[s][t].ids) {
        const auto q = static_cast<std::size_t>(owner(t, row));
        const auto [found, fresh] = known.try_emplace(row, got_count_[q]);
        if (fresh) rows[q].push_back(places_.index(row)), got_count_[q] += static_cast<int>(width(t));
        where_[s][t].push_back(found->second);
      }
    }
    for (std::size_t q = 0; q < ask_.size(); ++q) {
      ask_[q].push_back(std::ssize(rows[q]));
      ask_[q].insert(ask_[q].end(), rows[q].begin(), rows[q].end());
    }
  }
}

/// Places counted within each rank's answer become places in all answers.
template <class T>
void TablePass<T>::start_of_answers() {
  got_at_ = starts_of(got_count_);
  for (std::size_t s = 0; s < bags_.size(); ++s)
    for (std::size_t t = 0; t < tables_.size(); ++t)
      for (std::size_t k = 0; k < where_[s][t].size(); ++k)
        if (where_[s][t][k] >= 0)
          where_[s][t][k] += got_at_[static_cast<std::size_t>(owner(t, summed_there_ ? 0 : bags_[s][t].ids[k]))];
}

/// How much each rank will hear and give, then the numbers of rows.
template <class T>
void TablePass<T>::send_numbers() {
  const auto ranks = ask_.size();
  std::vector<int> mine(2 * ranks), theirs(2 * ranks);
  std::vector<std::int64_t> numbers;
  std::int64_t to_others = 0;
  asked_.resize(ranks);
  for (std::size_t q = 0; q < ranks; ++q) {
    mine[2 * q] = asked_[q] = static_cast<int>(ask_[q].size());
    mine[2 * q + 1] = got_count_[q];
    numbers.insert(numbers.end(), ask_[q].begin(), ask_[q].end());
    if (static_cast<int>(q) != comm_.rank()) to_others += asked_[q];
  }
  MPI_Alltoall(mine.data(), 2, MPI_INT, theirs.data(), 2, MPI_INT, comm_.handle());
  heard_.resize(ranks), given_count_.resize(ranks);
  for (std::size_t p = 0; p < ranks; ++p) heard_[p] = theirs[2 * p], given_count_[p] = theirs[2 * p + 1];
  asked_at_ = starts_of(asked_), heard_at_ = starts_of(heard_), given_at_ = starts_of(given_count_);
  got_numbers_.resize(static_cast<std::size_t>(heard_at_.back() + heard_.back()));
  MPI_Alltoallv(numbers.data(), asked_.data(), asked_at_.data(), MPI_INT64_T, got_numbers_.data(), heard_.data(),
                heard_at_.data(), MPI_INT64_T, comm_.handle());
  traffic_.count("row numbers", "world", to_others * static_cast<std::int64_t>(sizeof(std::int64_t)));
}

/// Goes through one block: use(table, rows of one sum, where it lies in given_). Returns the place behind it.
template <class T>
template <class F>
const std::int64_t* TablePass<T>::walk(const std::int64_t* at, std::int64_t from, F&& use) const {
  ++at;  // the slice
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    const std::int64_t count = *at++;
    const std::int64_t* lengths = at;
    if (summed_there_) at += count;
    for (std::int64_t k = 0; k < count; ++k) {
      const auto length = summed_there_ ? static_cast<std::size_t>(lengths[k]) : std::size_t{1};
      use(static_cast<int>(t), {at, length}, from);
      at += length, from += width(t);
    }
  }
  return at;
}

/// All blocks that were asked for, and this rank's slices, whose own rows were not, in the order of slices.
template <class T>
std::vector<typename TablePass<T>::Block> TablePass<T>::blocks() const {
  std::vector<Block> out;
  for (std::size_t p = 0; p < heard_.size(); ++p) {
    const std::int64_t* at = got_numbers_.data() + heard_at_[p];
    const std::int64_t* const end = at + heard_[p];
    std::int64_t from = given_at_[p];
    while (at < end) {
      out.push_back({*at, at, from});
      at = walk(at, from, [&](int t, std::span<const std::int64_t>, std::int64_t here) {
        from = here + tables_[static_cast<std::size_t>(t)].width;
      });
    }
  }
  for (std::size_t s = 0; s < bags_.size() && direct_; ++s)
    out.push_back({numbers_[s], nullptr, static_cast<std::int64_t>(s)});
  std::stable_sort(out.begin(), out.end(), [](const Block& a, const Block& b) { return a.slice < b.slice; });
  return out;
}

template <class T>
void TablePass<T>::answer() {
  given_.assign(static_cast<std::size_t>(given_at_.back() + given_count_.back()), T(0));
  for (const Block& block : blocks()) {
    if (!block.numbers) continue;
    walk(block.numbers, block.from, [&](int t, std::span<const std::int64_t> rows, std::int64_t at) {
      for (const auto row : rows) store_.add_row(t, row, given_.data() + at);
    });
  }
}

template <class T>
void TablePass<T>::send_rows() {
  MPI_Ialltoallv(given_.data(), given_count_.data(), given_at_.data(), mpi_type<T>(), got_.data(), got_count_.data(),
                 got_at_.data(), mpi_type<T>(), comm_.handle(), &request_);
  const auto own = static_cast<std::size_t>(comm_.rank());
  traffic_.count("rows", "world", (std::ssize(given_) - given_count_[own]) * static_cast<std::int64_t>(sizeof(T)));
}

/// Where the rows of each table lie that one rank asks for by numbers [at, end), the first of them at `from`.
template <class T>
typename RowCoding<T>::Found TablePass<T>::found(const std::int64_t* at, const std::int64_t* end,
                                                 std::int64_t from) const {
  typename RowCoding<T>::Found out(tables_.size());
  while (at < end)
    at = walk(at, from, [&](int t, std::span<const std::int64_t>, std::int64_t here) {
      out[static_cast<std::size_t>(t)].push_back(here);
      from = here + width(static_cast<std::size_t>(t));
    });
  return out;
}

template <class T>
void TablePass<T>::send_coded() {
  coding_->begin_step(store_, places_, comm_);
  const auto ranks = ask_.size(), own = static_cast<std::size_t>(comm_.rank());
  std::vector<int> count(ranks, 0);
  lowp::ByteWriter all;
  for (std::size_t p = 0; p < ranks; ++p) {
    const std::int64_t* begin = got_numbers_.data() + heard_at_[p];
    lowp::ByteWriter out;
    coding_->encode(found(begin, begin + heard_[p], given_at_[p]), given_.data(), out);
    if (p == own) {
      std::copy_n(given_.data() + given_at_[p], given_count_[p], got_.data() + got_at_[p]);
    } else {
      count[p] = static_cast<int>(out.bytes().size());
      all.put(std::span<const std::byte>(out.bytes()));
    }
  }
  coded_given_ = all.take();
  coded_count_.resize(ranks);
  MPI_Alltoall(count.data(), 1, MPI_INT, coded_count_.data(), 1, MPI_INT, comm_.handle());
  coded_at_ = starts_of(coded_count_);
  coded_got_.resize(static_cast<std::size_t>(coded_at_.back() + coded_count_.back()));
  sent_at_ = starts_of(count), sent_count_ = std::move(count);
  MPI_Ialltoallv(coded_given_.data(), sent_count_.data(), sent_at_.data(), MPI_BYTE, coded_got_.data(),
                 coded_count_.data(), coded_at_.data(), MPI_BYTE, comm_.handle(), &request_);
  traffic_.count("rows", "world", std::ssize(coded_given_));
}

template <class T>
void TablePass<T>::decode() {
  for (std::size_t q = 0; q < ask_.size(); ++q) {
    if (static_cast<int>(q) == comm_.rank()) continue;
    const auto bytes = std::span(coded_got_)
                           .subspan(static_cast<std::size_t>(coded_at_[q]), static_cast<std::size_t>(coded_count_[q]));
    coding_->decode(found(ask_[q].data(), ask_[q].data() + ask_[q].size(), got_at_[q]), bytes, got_.data());
  }
}

template <class T>
void TablePass<T>::fetch(std::vector<std::vector<Bags>> slices, std::vector<std::int64_t> numbers, bool with_gradient) {
  const auto ranks = static_cast<std::size_t>(comm_.size());
  wait_back();  // of a step that was given up
  bags_ = std::move(slices), numbers_ = std::move(numbers);
  where_.assign(bags_.size(), std::vector<std::vector<std::int64_t>>(tables_.size()));
  ask_.assign(ranks, {});
  got_count_.assign(ranks, 0);
  double most = 0.0;
  for (const auto& slice : bags_)
    for (std::size_t t = 0; t < tables_.size(); ++t)
      most += static_cast<double>(slice[t].ids.size()) * static_cast<double>(width(t));
  if (comm_.sum(most) > std::numeric_limits<int>::max())
    throw InputError("tables: the rows of one step are more than 2147483647 numbers; lower batch");
  if (deduplicate_)
    ask_for_different();
  else
    ask_for_all();
  start_of_answers();
  send_numbers();
  answer();
  got_.resize(static_cast<std::size_t>(got_at_.back() + got_count_.back()));
  if (coding_ && with_gradient)
    send_coded();
  else
    send_rows();
  missing_ = 0;
  for (std::size_t s = 0; s < bags_.size(); ++s) {
    if (s == slices_.size()) slices_.emplace_back(*this, s);
    slices_[s].begin();
    if (bags_[s].front().size() > 0) ++missing_;
  }
  arrived_ = false, sent_back_ = !with_gradient, coded_ = coding_ && with_gradient;
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
  return slices_[static_cast<std::size_t>(slice)];
}

template <class T>
void TablePass<T>::send_back() {
  if (sent_back_) return;
  sent_back_ = true;
  wait();
  std::fill(got_.begin(), got_.end(), T(0));
  for (std::size_t s = 0; s < bags_.size(); ++s)
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      const auto gradient = slices_[s].gradient_of(t);
      if (gradient.empty()) continue;
      if (summed_there_ && !is_own(t, 0))
        for (std::size_t b = 0; b < where_[s][t].size(); ++b)
          add(width(t), gradient.data() + static_cast<std::int64_t>(b) * width(t), got_.data() + where_[s][t][b]);
      else
        for_members(s, t, [&](std::int64_t bag, std::int64_t where) {
          if (where >= 0) add(width(t), gradient.data() + bag * width(t), got_.data() + where);
        });
    }
  MPI_Ialltoallv(got_.data(), got_count_.data(), got_at_.data(), mpi_type<T>(), given_.data(), given_count_.data(),
                 given_at_.data(), mpi_type<T>(), comm_.handle(), &request_);
  const auto own = static_cast<std::size_t>(comm_.rank());
  traffic_.count("row gradients", "world", (std::ssize(got_) - got_count_[own]) * static_cast<std::int64_t>(sizeof(T)));
}

template <class T>
void TablePass<T>::wait_back() {
  if (request_ != MPI_REQUEST_NULL) MPI_Wait(&request_, MPI_STATUS_IGNORE);
}

/// Gradients of the own rows of one slice.
template <class T>
void TablePass<T>::add_own(std::size_t s) {
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    if (summed_there_ && !is_own(t, 0)) continue;
    const auto gradient = slices_[s].gradient_of(t);
    for_members(s, t, [&](std::int64_t bag, std::int64_t where) {
      if (where >= 0) return;
      T* sum = sums_[t].sum(~where);
      if (!gradient.empty()) add(width(t), gradient.data() + bag * width(t), sum);
    });
  }
}

template <class T>
void TablePass<T>::touched(const Use& use) {
  constexpr std::size_t ahead = 8;  // rows before the one that changes, memory is asked for it
  wait_back();
  for (const Block& block : blocks())
    if (!block.numbers)
      add_own(static_cast<std::size_t>(block.from));
    else
      walk(block.numbers, block.from, [&](int t, std::span<const std::int64_t> rows, std::int64_t at) {
        auto& sums = sums_[static_cast<std::size_t>(t)];
        for (const auto row : rows) add(tables_[static_cast<std::size_t>(t)].width, given_.data() + at, sums.sum(row));
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
