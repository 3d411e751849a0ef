#include "plugins/pretrain/contrastive/gathered.hpp"

#include <limits>
#include <type_traits>

#include "core/base/error.hpp"

namespace cambium::train {

RankRows rank_rows(std::int64_t own, const Comm& comm) {
  RankRows out;
  out.count = comm.all_gather(own);
  for (int rank = 0; rank < comm.size(); ++rank) {
    const auto here = out.count[rank];
    if (rank < comm.rank()) out.first += here;
    out.all += here;
  }
  return out;
}

template <class T>
std::vector<T> gathered(std::span<const T> own, std::int64_t width, const RankRows& rows, const char* name,
                        const Comm& comm, Traffic& traffic) {
  traffic.count(name, "world", static_cast<std::int64_t>(own.size_bytes()));
  if (comm.size() == 1) return {own.begin(), own.end()};
  if (rows.all * width > std::numeric_limits<int>::max())
    throw InputError("the features of a batch are more than 2^31 values; take a smaller batch or a smaller width");
  std::vector<int> counts, places;
  std::int64_t place = 0;
  for (const auto here : rows.count) {
    counts.push_back(static_cast<int>(here * width));
    places.push_back(static_cast<int>(place));
    place += here * width;
  }
  std::vector<T> out(rows.all * width);
  const MPI_Datatype type = std::is_same_v<T, double> ? MPI_DOUBLE : MPI_FLOAT;
  MPI_Allgatherv(own.data(), static_cast<int>(own.size()), type, out.data(), counts.data(), places.data(), type,
                 comm.handle());
  return out;
}

template std::vector<double> gathered(std::span<const double>, std::int64_t, const RankRows&, const char*, const Comm&,
                                      Traffic&);
template std::vector<float> gathered(std::span<const float>, std::int64_t, const RankRows&, const char*, const Comm&,
                                     Traffic&);

}  // namespace cambium::train
