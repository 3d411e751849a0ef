#include <fmt/format.h>

#include <cmath>

#include "plugins/relate/datasets/draw.hpp"
#include "plugins/relate/datasets/pair_table.hpp"

namespace cambium::relate {

namespace {

constexpr int factors = 4;
constexpr std::int64_t sequence_length = 60, fragments_each = 4;
constexpr const char* fragments[] = {"CC",       "C(=O)N",     "c1ccccc1", "C(F)(F)F", "OC",    "N1CCOCC1",
                                     "c1ccncc1", "S(=O)(=O)N", "C#N",      "CCl",      "C1CC1", "NC(=O)C"};
constexpr std::int64_t fragment_count = std::ssize(fragments);
constexpr const char* residues = "ACDEFGHIKLMNPQRSTVWY";

}  // namespace

PairTable make_pairs(const MadePairs& keys) {
  const auto seed = static_cast<std::uint64_t>(keys.seed);
  const auto draw = [&](std::uint64_t what) { return Draw{made_pairs_stream, seed, what}; };
  const Draw choice = draw(1), letters = draw(2), strength = draw(3), family = draw(4), mutation = draw(5),
             value = draw(6);
  PairTable out;
  out.source = "synthetic pairs";
  out.answer = "affinity";
  std::vector<std::vector<double>> of_compound, of_target;
  for (std::int64_t c = 0; c < keys.compounds; ++c) {
    std::string smiles = "C";
    std::vector<double> sum(factors, 0.0);
    for (std::int64_t k = 0; k < fragments_each; ++k) {
      const auto f = choice.below(fragment_count, c, k);
      smiles += fragments[f];
      for (int j = 0; j < factors; ++j) sum[j] += 0.5 * strength.normal(f, j);
    }
    out.compounds.id.push_back(fmt::format("C{}", c + 1));
    out.compounds.text.push_back(smiles);
    of_compound.push_back(sum);
  }
  for (std::int64_t t = 0; t < keys.targets; ++t) {
    const auto f = t % keys.families;
    std::string sequence;
    for (std::int64_t k = 0; k < sequence_length; ++k) sequence += residues[letters.below(20, f, k)];
    std::vector<double> own;
    for (int j = 0; j < factors; ++j) own.push_back(family.normal(f, j) + 0.2 * mutation.normal(t, 100 + j));
    for (std::int64_t k = 0; k < 3; ++k)
      sequence[mutation.below(sequence_length, t, 2 * k)] = residues[mutation.below(20, t, 2 * k + 1)];
    out.targets.id.push_back(fmt::format("T{}-{}", f + 1, t / keys.families + 1));
    out.targets.text.push_back(sequence);
    of_target.push_back(own);
  }
  for (std::int64_t c = 0; c < keys.compounds; ++c)
    for (std::int64_t t = 0; t < keys.targets; ++t) {
      if (value.uniform(c, 2 * t) > keys.known) continue;
      double sum = 6.0 + keys.noise * value.normal(c, 2 * t + 1);
      for (std::size_t j = 0; j < factors; ++j) sum += 0.6 * of_compound[c][j] * of_target[t][j];
      out.entries.push_back(
          {static_cast<std::int32_t>(c), static_cast<std::int32_t>(t), sum, -1, c * keys.targets + t});
    }
  return out;
}

}  // namespace cambium::relate
