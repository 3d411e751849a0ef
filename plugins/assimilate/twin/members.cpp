#include "plugins/assimilate/twin/members.hpp"
#include "core/parallel/gather.hpp"

#include <algorithm>

namespace cambium::assimilate {
namespace {

std::vector<int> starts(const std::vector<int>& counts) {
  std::vector<int> out(counts.size(), 0);
  for (std::size_t r = 1; r < counts.size(); ++r) out[r] = out[r - 1] + counts[r - 1];
  return out;
}

}  // namespace

Members::Members(const Comm& comm, const StateSpace& space, std::size_t members)
    : comm_(comm), space_(space), members_(members), fields_(space.fields.size()),
      own_(Share::of(members, comm.rank(), comm.size())), values_(own_.size() * space.elements()) {}

std::span<double> Members::member(std::size_t m) {
  return std::span(values_).subspan((m - own_.first) * space_.elements(), space_.elements());
}

std::vector<double> Members::seen_through(const Network& network) {
  std::vector<double> mine(own_.size() * network.size());
  for (auto m = own_.first; m < own_.last; ++m)
    network.apply(member(m), std::span(mine).subspan((m - own_.first) * network.size(), network.size()));
  return all_gather(mine, comm_);
}

Members::Counts Members::counts() const {
  Counts out;
  const auto mine = places_of(comm_.rank()).size();
  for (int r = 0; r < comm_.size(); ++r) {
    out.send.push_back(static_cast<int>(own_.size() * fields_ * places_of(r).size()));
    out.receive.push_back(static_cast<int>(members_of(r).size() * fields_ * mine));
  }
  out.send_at = starts(out.send);
  out.receive_at = starts(out.receive);
  return out;
}

EnsembleSlice Members::to_places() const {
  const Counts c = counts();
  std::vector<double> packed;
  packed.reserve(values_.size());
  for (int r = 0; r < comm_.size(); ++r)
    for (std::size_t m = 0; m < own_.size(); ++m)
      for (std::size_t f = 0; f < fields_; ++f) {
        const auto from = values_.begin() + static_cast<std::ptrdiff_t>((m * fields_ + f) * space_.places());
        packed.insert(packed.end(), from + static_cast<std::ptrdiff_t>(places_of(r).first),
                      from + static_cast<std::ptrdiff_t>(places_of(r).last));
      }
  const Share mine = places_of(comm_.rank());
  EnsembleSlice out{members_, fields_, mine.first, mine.last, std::vector<double>(members_ * fields_ * mine.size())};
  MPI_Alltoallv(packed.data(), c.send.data(), c.send_at.data(), MPI_DOUBLE, out.values.data(), c.receive.data(),
                c.receive_at.data(), MPI_DOUBLE, comm_.handle());
  return out;
}

void Members::from_places(const EnsembleSlice& slice) {
  const Counts c = counts();
  std::vector<double> packed(values_.size());
  MPI_Alltoallv(slice.values.data(), c.receive.data(), c.receive_at.data(), MPI_DOUBLE, packed.data(), c.send.data(),
                c.send_at.data(), MPI_DOUBLE, comm_.handle());
  auto from = packed.begin();
  for (int r = 0; r < comm_.size(); ++r)
    for (std::size_t m = 0; m < own_.size(); ++m)
      for (std::size_t f = 0; f < fields_; ++f) {
        const auto count = static_cast<std::ptrdiff_t>(places_of(r).size());
        std::copy(
            from, from + count,
            values_.begin() + static_cast<std::ptrdiff_t>((m * fields_ + f) * space_.places() + places_of(r).first));
        from += count;
      }
}

Members::Moments Members::moments(const EnsembleSlice& slice) const {
  std::vector<double> mine;
  for (std::size_t place = slice.first; place < slice.last; ++place)
    for (std::size_t f = 0; f < fields_; ++f) {
      double mean = 0.0, squares = 0.0;
      for (std::size_t m = 0; m < members_; ++m) mean += slice.at(m, f, place) / static_cast<double>(members_);
      for (std::size_t m = 0; m < members_; ++m)
        squares += (slice.at(m, f, place) - mean) * (slice.at(m, f, place) - mean);
      mine.push_back(mean);
      mine.push_back(members_ > 1 ? squares / static_cast<double>(members_ - 1) : 0.0);
    }
  const auto all = all_gather(mine, comm_);
  Moments out{std::vector<double>(space_.elements()), std::vector<double>(space_.elements())};
  auto from = all.begin();
  for (std::size_t place = 0; place < space_.places(); ++place)
    for (std::size_t f = 0; f < fields_; ++f) {
      out.mean[f * space_.places() + place] = *from++;
      out.variance[f * space_.places() + place] = *from++;
    }
  return out;
}

}  // namespace cambium::assimilate
