#include "plugins/relate/datasets/interactions.hpp"

#include <fmt/format.h>

#include "core/base/key_error.hpp"
#include "core/io/reading.hpp"
#include "core/parallel/agree.hpp"

namespace cambium::relate {

void InteractionSet::Made::describe(deck::Describe<Made>& d) {
  d("users", &Made::users, "number of users").range(2, 1e6).def(300);
  d("items", &Made::items, "number of items").range(2, 1e6).def(200);
  d("tags", &Made::tags, "different ones; every item has two of them, or twice the same").range(1, 1e6).def(12);
  d("interactions_per_user", &Made::each, "items that a user chooses").formerly("each").range(1, 1e6).def(15);
  d("cold_start_fraction", &Made::fresh, "cold-start fraction: items that have interactions in the test set only")
      .formerly("fresh")
      .range(0.0, 0.9)
      .def(0.1);
  d("seed", &Made::seed, "seed of users, items and interactions").at_least(0).def(1);
}

void InteractionSet::Params::describe(deck::Describe<Params>& d) {
  d("file", &Params::file, "HDF5 file with the items that each user chose, to learn from and for tests")
      .def("")
      .example("gowalla.h5");
  d("synthetic", &Params::made_up, "synthetic interactions by a known rule, instead of a file").formerly("made_up");
  d("split", &Params::part, "split of the interactions: training, validation or test")
      .formerly("part")
      .options({{"training", Role::training}, {"validation", Role::validation}, {"test", Role::test}})
      .def(Role::training);
  d("num_negatives", &Params::others,
    "number of negative samples per positive, uniform over items that the user did not choose; for training among "
    "items with at least one interaction")
      .formerly("others")
      .range(0, 10000)
      .def(4);
  d("seed", &Params::seed, "seed of the negative samples").at_least(0).def(1);
  d("train_on_validation", &Params::join_validation,
    "training on the validation split, too: for the final training after hyperparameters were chosen")
      .formerly("join_validation")
      .def(false);
  d.check([](const Params& p) -> std::string {
    if (p.file.empty() == !p.made_up) return "give one of: file, synthetic";
    if (p.join_validation && p.part == Role::validation)
      return "train_on_validation leaves nothing for validation; remove it, or take split: training or test";
    return "";
  });
}

void InteractionSet::open(Context& context) {
  io::on_every_rank(context.comm, [&] {
    io::reading(params_.file.empty() ? "synthetic interactions" : params_.file, [&] {
      ChoiceTable table = params_.made_up ? make_choices(*params_.made_up) : read_choices(params_.file);
      if (params_.join_validation) join_validation(table);
      table_ = std::make_shared<const ChoiceTable>(std::move(table));
      records_ = share(choice_records(table_, params_.part, params_.others, params_.seed));
      if (records_->size() == 0)
        throw KeyError("choices.part", "split",
                       fmt::format("{}: no user chose anything in this split; take another split", table_->source));
    });
  });
  context.log.info(fmt::format("{} records of interactions, {} of them negative samples, of {}: {} users, {} items{}",
                               size(), size() - size() / (1 + params_.others), table_->source, table_->users,
                               table_->items, table_->tags > 0 ? fmt::format(" with {} tags", table_->tags) : ""));
  if (table_->known > 0)
    context.log.warn(fmt::format(
        "{}: {} test interactions are also in training or validation: their items cannot be offered, and are left out",
        table_->source, table_->known));
}

std::vector<train::SamplePtr> InteractionSet::read(std::span<const std::int64_t> ids) {
  std::vector<train::SamplePtr> out;
  for (const auto id : ids) out.push_back(sample_of(records_, id));
  return out;
}

}  // namespace cambium::relate
