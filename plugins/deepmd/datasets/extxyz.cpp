#include "plugins/deepmd/datasets/extxyz.hpp"

#include "core/parallel/agree.hpp"
#include "plugins/deepmd/data/extxyz_frames.hpp"

namespace cambium::deepmd {

void ExtxyzSet::Params::describe(deck::Describe<Params>& d) {
  d("files", &Params::files, "extended XYZ files; every frame is a sample").example("[train.xyz]");
  ExtxyzKeys::describe_in(d);
  d.check([](const Params& p) -> std::string { return p.files.empty() ? "files names no file" : ""; });
}

void ExtxyzSet::open(Context& context) {
  const ExtxyzLabels labels = params_.labels();
  io::on_every_rank(context.comm, [&] {
    for (const std::string& file : params_.files)
      for (const ExtxyzFrame& frame : read_extxyz_frames(file, labels)) {
        samples_.add(make_sample(size(), frame.species, frame.types, frame.frame));
      }
  });
}

}  // namespace cambium::deepmd
