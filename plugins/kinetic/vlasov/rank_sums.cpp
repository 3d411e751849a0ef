#include "plugins/kinetic/vlasov/rank_sums.hpp"

#include <algorithm>

namespace cambium::kinetic {

void RankSums::reduce(const std::vector<std::span<double>>& sums, std::span<double> maxima, bool share_memory) {
  if (comm_.size() == 1) return;
  std::int64_t count = static_cast<std::int64_t>(maxima.size());
  for (const auto& s : sums) count += static_cast<std::int64_t>(s.size());
  if (!share_memory || count * comm_.size() > most_numbers) return through_messages(sums, maxima);
  if (count > made_) pieces_ = SharedPieces::make(comm_, count), made_ = count;
  if (pieces_)
    through_memory(sums, maxima);
  else
    through_messages(sums, maxima);
}

void RankSums::through_messages(const std::vector<std::span<double>>& sums, std::span<double> maxima) const {
  std::vector<double> all;
  for (const auto& s : sums) all.insert(all.end(), s.begin(), s.end());
  comm_.sum(std::span<double>(all));
  auto from = all.begin();
  for (const auto& s : sums) {
    std::copy_n(from, s.size(), s.begin());
    from += static_cast<std::ptrdiff_t>(s.size());
  }
  comm_.max(maxima);
}

void RankSums::through_memory(const std::vector<std::span<double>>& sums, std::span<double> maxima) {
  double* to = pieces_->mine();
  for (const auto& s : sums) to = std::copy(s.begin(), s.end(), to);
  std::copy(maxima.begin(), maxima.end(), to);
  pieces_->start();
  for (int rank = 0; rank < comm_.size(); ++rank) {  // in this order on every rank: fields must not differ by a bit
    const double* from = pieces_->of(rank);
    for (const auto& s : sums)
      for (double& x : s) x = rank ? x + *from++ : *from++;
    for (double& x : maxima) x = rank ? std::max(x, *from++) : *from++;
  }
}

}  // namespace cambium::kinetic
