#include "plugins/relate/datasets/pairs.hpp"

#include <fmt/format.h>

#include <cctype>

#include "core/base/error.hpp"
#include "core/io/reading.hpp"
#include "core/parallel/agree.hpp"

namespace cambium::relate {

void Pairs::Made::describe(deck::Describe<Made>& d) {
  d("compounds", &Made::compounds, "number of compounds").range(2, 100000).def(60);
  d("targets", &Made::targets, "number of targets").range(2, 100000).def(40);
  d("families", &Made::families, "number of families of targets, whose members are mutants of each other")
      .range(1, 1000)
      .def(5);
  d("known", &Made::known, "fraction of all pairs with a measured value").range(0.01, 1.0).def(0.6);
  d("noise", &Made::noise, "standard deviation of a measurement").non_negative().def(0.3);
  d("seed", &Made::seed, "seed of compounds, targets and values").at_least(0).def(1);
}

void Pairs::Folds::describe(deck::Describe<Folds>& d) {
  d("by", &Folds::by,
    "unit of the split: single pairs; all pairs of a compound, or of a target, so that the test set has unseen ones; "
    "or the folds in the file")
      .options({{"pairs", By::pairs}, {"compounds", By::compounds}, {"targets", By::targets}, {"given", By::given}})
      .def(By::pairs);
  d("n_folds", &Folds::folds, "number of random folds").formerly("folds").range(2, 1000).def(6);
  d("test_fold", &Folds::fold, "index of the test fold, from 0").formerly("fold").at_least(0).def(5);
  d("validation_fold", &Folds::validation, "index of the validation fold; -1 for none")
      .formerly("validation")
      .at_least(-1)
      .def(-1);
  d("seed", &Folds::seed, "seed of the folds").at_least(0).def(1);
  d.check([](const Folds& f) -> std::string {
    if (f.fold == f.validation) return "test_fold and validation_fold are the same; give different ones";
    if (f.by != By::given && (f.fold >= f.folds || f.validation >= f.folds))
      return fmt::format("folds are counted from 0 to {}", f.folds - 1);
    return "";
  });
}

void Pairs::Params::describe(deck::Describe<Params>& d) {
  d("file", &Params::file,
    "HDF5 file of a matrix of values, or text (.csv, .tsv, .tab, .txt) with a line for each pair")
      .def("")
      .example("pairs.csv");
  d("value", &PairTextKeys::value,
    "column of a text that holds the values; when empty, the one that is neither compound, SMILES, target, sequence "
    "nor "
    "fold")
      .def("")
      .example("pKd");
  d("incomplete", &PairTextKeys::incomplete,
    "treatment of pairs without a value or with a bound such as >10000 in a text file: omitted and counted, or refused")
      .options({{"leave_out", PairTextKeys::Incomplete::leave_out}, {"refuse", PairTextKeys::Incomplete::refuse}})
      .def(PairTextKeys::Incomplete::leave_out);
  d("unit", &Params::unit, "unit of the values, if the file states none").def("");
  d("synthetic", &Params::made_up, "synthetic compounds and targets by a known rule, instead of a file")
      .formerly("made_up");
  d("folds", &Params::folds, "cross-validation folds, which select the test pairs");
  d("split", &Params::part, "pairs to train on, to validate on, or to test on")
      .formerly("part")
      .options({{"training", Role::training}, {"validation", Role::validation}, {"test", Role::test}})
      .def(Role::training);
  d("radius", &Params::radius, "radius of the compound fragments, in bonds around an atom").range(0, 6).def(2);
  d("fragment_rows", &Params::pieces, "number of embedding rows of fragments")
      .formerly("pieces")
      .range(1, 1e8)
      .def(4096);
  d("kmer_length", &Params::letters, "k-mer length of protein sequences").formerly("letters").range(1, 5).def(3);
  d.check([](const Params& p) -> std::string {
    if (p.file.empty() == !p.made_up) return "give one of: file, synthetic";
    if (p.part == Role::validation && p.folds.validation < 0)
      return "split is validation, but folds names no fold for it; give folds a validation_fold, in all data sets of "
             "the "
             "deck";
    return "";
  });
}

/// By the file extension, ignoring case.
static bool is_text(std::string name) {
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name.ends_with(".csv") || name.ends_with(".tsv") || name.ends_with(".tab") || name.ends_with(".txt");
}

std::shared_ptr<const PairTable> Pairs::read_table() const {
  PairTable out = params_.made_up         ? make_pairs(*params_.made_up)
                  : is_text(params_.file) ? read_pair_csv(params_.file, params_)
                                          : read_pair_h5(params_.file);
  if (out.unit.empty()) out.unit = params_.unit;
  return std::make_shared<const PairTable>(std::move(out));
}

void Pairs::keep_part() {
  records_ = share(pair_records(table_, roles_, params_.part, {params_.radius, params_.pieces, params_.letters}));
}

Pairs Pairs::of_part(Role part) const {
  Pairs out = *this;
  out.params_.part = part;
  out.keep_part();
  return out;
}

void Pairs::open(Context& context) {
  io::on_every_rank(context.comm, [&] {
    io::reading(params_.file.empty() ? "synthetic pairs" : params_.file, [&] {
      table_ = read_table();
      roles_ = roles_of(*table_, params_.folds);
      keep_part();
    });
  });
  for (const auto& note : table_->notes) context.log.info(note);
  for (const auto& warning : table_->warnings) context.log.warn(warning);
  const char* part = params_.part == Role::training ? "to train on"
                     : params_.part == Role::test   ? "for tests"
                                                    : "for validation";
  context.log.info(fmt::format("{} pairs {} of {} in {}: {} compounds, {} targets", size(), part,
                               table_->entries.size(), table_->source, table_->compounds.size(),
                               table_->targets.size()));
  if (const auto both = pairs_in_both(*table_, roles_); both > 0)
    context.log.warn(
        fmt::format("{}: {} pairs of a compound and a target are in training and also in tests: their test values are "
                    "known already; give each pair one line",
                    table_->source, both));
}

std::vector<train::SamplePtr> Pairs::read(std::span<const std::int64_t> ids) {
  std::vector<train::SamplePtr> out;
  for (const auto id : ids) out.push_back(sample_of(records_, id));
  return out;
}

}  // namespace cambium::relate
