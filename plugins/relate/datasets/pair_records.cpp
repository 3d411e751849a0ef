#include "plugins/relate/datasets/pair_records.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "plugins/relate/chemistry/fragments.hpp"
#include "plugins/relate/chemistry/words.hpp"

namespace cambium::relate {

using Rows = std::shared_ptr<const std::vector<std::int32_t>>;

/// First location of a compound or target in its source, for messages.
static std::string place_of(const PairTable& table, bool compound, std::int64_t number) {
  for (const auto& entry : table.entries)
    if ((compound ? entry.compound : entry.target) == number) return fmt::format(", row {}", entry.place);
  return "";
}

/// Rows of every compound or target, computed by `rows_of` from its text.
template <class F>
static std::vector<Rows> all_rows(const PairTable& table, bool compound, F&& rows_of) {
  const Side& side = compound ? table.compounds : table.targets;
  std::vector<Rows> out;
  for (std::int64_t k = 0; k < side.size(); ++k) {
    const auto at = static_cast<std::size_t>(k);
    try {
      out.push_back(std::make_shared<const std::vector<std::int32_t>>(rows_of(side.text[at])));
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}{}, {} '{}': {}", table.source, place_of(table, compound, k),
                                   compound ? "compound" : "target", side.id[at], error.what()));
    }
  }
  return out;
}

/// Hash of the assignment of compounds or targets to rows.
static std::uint64_t meaning_of_side(const Side& side) {
  std::string all;
  for (std::size_t k = 0; k < side.id.size(); ++k) all += side.id[k] + '\t' + side.text[k] + '\n';
  return meaning_of(all);
}

static std::uint64_t meaning_of_tests(const PairTable& table, const std::vector<Role>& roles) {
  std::string all;
  for (std::size_t k = 0; k < roles.size(); ++k)
    if (roles[k] == Role::test) all += fmt::format("{} {}\n", table.entries[k].compound, table.entries[k].target);
  return meaning_of(all);
}

RecordSet pair_records(const std::shared_ptr<const PairTable>& table, const std::vector<Role>& roles, Role role,
                       const DescriptorKeys& keys) {
  RecordSet out;
  out.source = table->source;
  out.answer = table->answer;
  out.unit = table->unit;
  out.columns = {{"compound", table->compounds.size(), meaning_of_side(table->compounds)},
                 {"target", table->targets.size(), meaning_of_side(table->targets)},
                 {"compound_pieces", keys.pieces, meaning_of(fmt::format("{} {}", keys.radius, keys.pieces))},
                 {"target_words", words_in_all(keys.letters), meaning_of(fmt::format("{}", keys.letters))}};
  const auto pieces = all_rows(*table, true, [&](const std::string& text) {
    return fragment_rows(parse_smiles(text), static_cast<int>(keys.radius), keys.pieces);
  });
  const auto words = all_rows(*table, false, [&](const std::string& text) { return word_rows(text, keys.letters); });
  const auto most = std::max(table->compounds.size(), table->targets.size());
  auto numbers = std::make_shared<std::vector<std::int32_t>>();
  for (std::int64_t k = 0; k < most; ++k) numbers->push_back(static_cast<std::int32_t>(k));
  const Rows own = numbers;
  out.stored.insert(out.stored.end(), pieces.begin(), pieces.end());
  out.stored.insert(out.stored.end(), words.begin(), words.end());
  out.stored.push_back(own);
  for (std::size_t k = 0; k < roles.size(); ++k) {
    if (roles[k] != role) continue;
    const auto& entry = table->entries[k];
    const auto c = static_cast<std::size_t>(entry.compound), t = static_cast<std::size_t>(entry.target);
    for (const auto bag :
         {std::span(*own).subspan(c, 1), std::span(*own).subspan(t, 1), std::span(*pieces[c]), std::span(*words[t])})
      out.bag.push_back(bag);
    out.answers.push_back(entry.value);
    out.place.push_back(entry.place);
    out.pair.push_back(static_cast<std::int64_t>(k));
  }
  out.pairs = table;
  out.tested = meaning_of_tests(*table, roles);
  require_sound(out);
  return out;
}

}  // namespace cambium::relate
