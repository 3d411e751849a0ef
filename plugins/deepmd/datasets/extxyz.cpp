#include "plugins/deepmd/datasets/extxyz.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.hpp"
#include "core/deck/about_key.hpp"
#include "core/parallel/agree.hpp"
#include "plugins/deepmd/data/extxyz_frames.hpp"
#include "plugins/deepmd/data/system_files.hpp"

namespace cambium::deepmd {

void ExtxyzSet::Params::describe(deck::Describe<Params>& d) {
  d("files", &Params::files, "extended XYZ files; every frame is a sample").example("[train.xyz]");
  ExtxyzKeys::describe_in(d);
  d.check([](const Params& p) -> std::string { return p.files.empty() ? "files names no file" : ""; });
}

/// Labels under another name in the file would silently be left out of the training.
static void warn_of_names(const std::string& file, const std::vector<ExtxyzFrame>& frames, const ExtxyzLabels& labels,
                          Log& log) {
  if (frames.empty()) return;
  const auto none = [&](auto has) { return std::none_of(frames.begin(), frames.end(), has); };
  const std::string others = frames.front().unread.empty() ? "" : "; it has " + join(frames.front().unread);
  if (none([](const ExtxyzFrame& f) { return f.frame.energy.has_value(); }))
    log.warn(fmt::format("{}: no frame has an energy, '{}' by the key 'energy' of the data set, so none is learnt{}",
                         file, labels.energy, others));
  if (none([](const ExtxyzFrame& f) { return !f.frame.force.empty(); }))
    log.warn(fmt::format("{}: no frame has forces, '{}' by the key 'force' of the data set, so none are learnt{}", file,
                         labels.force, others));
}

void ExtxyzSet::open(Context& context) {
  const ExtxyzLabels labels = params_.labels();
  io::on_every_rank(context.comm, [&] {
    SeenSystems seen;
    for (std::size_t k = 0; k < params_.files.size(); ++k) {
      const std::string& file = params_.files[k];
      const auto frames = deck::about_key("extxyz.files", deck::child_path("files", k),
                                          [&] { return read_extxyz_frames(file, labels); });
      if (const auto before = seen.before(file))
        context.log.warn(fmt::format("{}: {} is {}, which is named before: its frames count once more",
                                     deck::child_path("files", k), file, *before));
      warn_of_names(file, frames, labels, context.log);
      for (const auto& remark : label_remarks(file, frames)) context.log.info(remark);
      for (const auto& doubt : label_doubts(file, frames)) context.log.warn(doubt);
      for (const ExtxyzFrame& frame : frames)
        samples_.add(make_sample(size(), frame.species, frame.types, frame.frame));
    }
  });
}

}  // namespace cambium::deepmd
