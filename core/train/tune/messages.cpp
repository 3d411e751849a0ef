#include "core/train/tune/messages.hpp"

#include <cstring>

namespace cambium::tune {

namespace {

std::vector<std::byte> bytes_of_numbers(const std::vector<double>& m) {
  std::vector<std::byte> out(m.size() * sizeof(double));
  std::memcpy(out.data(), m.data(), out.size());
  return out;
}

std::vector<double> numbers_of(const std::vector<std::byte>& bytes) {
  std::vector<double> out(bytes.size() / sizeof(double));
  std::memcpy(out.data(), bytes.data(), out.size() * sizeof(double));
  return out;
}

}  // namespace

std::vector<std::byte> bytes_of(const Job& job) {
  std::vector<double> m = {static_cast<double>(job.genome.size())};
  m.insert(m.end(), job.genome.begin(), job.genome.end());
  m.insert(m.end(), job.thresholds.begin(), job.thresholds.end());
  return bytes_of_numbers(m);
}

Job job_of(const tasks::Piece& piece) {
  const auto m = numbers_of(piece.what);
  Job job{piece.number, piece.attempt, {}, {}};
  const auto middle = m.begin() + 1 + static_cast<std::ptrdiff_t>(m[0]);
  for (auto x = m.begin() + 1; x != middle; ++x) job.genome.push_back(static_cast<int>(*x));
  job.thresholds.assign(middle, m.end());
  return job;
}

tasks::PieceResult result_of(const Outcome& o) {
  std::vector<double> m = {o.reward, static_cast<double>(o.best_epoch), static_cast<double>(o.epochs)};
  m.insert(m.end(), o.rungs.begin(), o.rungs.end());
  return {.failed = o.failed, .seconds = o.seconds, .value = bytes_of_numbers(m), .problem = {}};
}

Outcome outcome_of(const tasks::PieceResult& result) {
  Outcome out;
  out.failed = result.failed;
  out.seconds = result.seconds;
  const auto m = numbers_of(result.value);
  if (m.size() < 3) return out;
  out.reward = m[0];
  out.best_epoch = static_cast<std::int32_t>(m[1]);
  out.epochs = static_cast<std::int32_t>(m[2]);
  out.rungs.assign(m.begin() + 3, m.end());
  return out;
}

}  // namespace cambium::tune
