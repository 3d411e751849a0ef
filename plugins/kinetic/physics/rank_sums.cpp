#include "plugins/kinetic/physics/rank_sums.hpp"

#include <algorithm>

namespace cambium::kinetic {

void RankSums::reduce(const std::vector<std::span<double>>& sums, std::span<double> maxima, bool share_memory) {
  const bool together = column_.comm.size() == all_.comm.size();
  if (!together) reduce(column_, sums, {}, share_memory);
  reduce(all_, together ? sums : std::vector<std::span<double>>(), maxima, share_memory);
}

void RankSums::reduce(Group& group, const std::vector<std::span<double>>& sums, std::span<double> maxima,
                      bool share_memory) {
  if (group.comm.size() == 1) return;
  std::int64_t count = static_cast<std::int64_t>(maxima.size());
  for (const auto& s : sums) count += static_cast<std::int64_t>(s.size());
  if (!share_memory || count * group.comm.size() > most_numbers) return through_messages(group.comm, sums, maxima);
  if (count > group.made) {
    group.pieces = SharedPieces::make(group.comm, count);
    group.made = count;
  }
  if (group.pieces)
    through_memory(group, sums, maxima);
  else
    through_messages(group.comm, sums, maxima);
}

void RankSums::through_messages(const Comm& comm, const std::vector<std::span<double>>& sums,
                                std::span<double> maxima) {
  std::vector<double> all;
  for (const auto& s : sums) all.insert(all.end(), s.begin(), s.end());
  if (!all.empty()) comm.sum(std::span<double>(all));
  auto from = all.begin();
  for (const auto& s : sums) {
    std::copy_n(from, s.size(), s.begin());
    from += static_cast<std::ptrdiff_t>(s.size());
  }
  if (!maxima.empty()) comm.max(maxima);
}

void RankSums::through_memory(Group& group, const std::vector<std::span<double>>& sums, std::span<double> maxima) {
  double* to = group.pieces->mine();
  for (const auto& s : sums) to = std::copy(s.begin(), s.end(), to);
  std::copy(maxima.begin(), maxima.end(), to);
  group.pieces->start();
  for (int rank = 0; rank < group.comm.size();
       ++rank) {  // in this order on every rank: fields must not differ by a bit
    const double* from = group.pieces->of(rank);
    for (const auto& s : sums)
      for (double& x : s) x = rank ? x + *from++ : *from++;
    for (double& x : maxima) x = rank ? std::max(x, *from++) : *from++;
  }
}

}  // namespace cambium::kinetic
