#include "plugins/graph/datasets/links.hpp"

#include <fmt/format.h>

#include "core/base/key_error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/parallel/agree.hpp"
#include "plugins/graph/links/link_files.hpp"

namespace cambium::graph {

void LinkSet::Params::describe(deck::Describe<Params>& d) {
  d("file", &Params::file, "HDF5 file of users and items, or of a plain graph").def("").example("gowalla.h5");
  d("edges", &Params::edges,
    "text with a line 'u v' for each link, as archives and other programs write them, instead of file")
      .def("")
      .example("likes.txt");
  d("held_out_edges", &Params::held_out_edges, "text file of the held-out test links, used with edges").def("");
  d("validation_edges", &Params::validation_edges,
    "text file of the validation links, used with edges: settings are chosen by them, and they are no candidates when "
    "test links are predicted")
      .def("");
  d("synthetic", &Params::made, "synthetic users and items, instead of a file").formerly("made");
  d("bipartite", &Params::bipartite, "bipartite graph: u are users and v items; false: both are nodes of one graph")
      .def(true);
  d("users", &Params::users, "users of edges, or nodes, numbered from 0; 0: those that a line names")
      .at_least(0)
      .at_most(2147483647)
      .def(0);
  d("items", &Params::items, "items of edges, numbered from 0; 0: those that a line names")
      .at_least(0)
      .at_most(2147483647)
      .def(0);
  describe_edge_text(d);
  d("hold_out", &Params::hold_out, "fraction of the links to hold out as test set if the data define none")
      .range(0.0, 0.9)
      .def(0.2);
  d("seed", &Params::seed, "seed of the random choice of held-out links").at_least(0).def(1);
  d("tuning", &Params::tuning,
    "predict the validation links, which are taken out of training, instead of the test links: to choose settings")
      .def(false);
  d("train_on_validation", &Params::train_on_validation,
    "training on the validation links: true adds them, for the final training after settings were chosen; false takes "
    "them out; default: those that are also among the training links stay");
  d("held_out", &Params::held_out, "the samples are the held-out links, not those to train on").def(false);
  d.check([](const Params& p) -> std::string {
    if ((p.file.empty() ? 0 : 1) + (p.edges.empty() ? 0 : 1) + (p.made ? 1 : 0) != 1)
      return "give one of: file (HDF5), edges (text), synthetic";
    if (p.edges.empty() && (!p.held_out_edges.empty() || !p.validation_edges.empty() || !p.bipartite || p.users > 0 ||
                            p.items > 0 || !p.columns.empty() || p.counts))
      return "held_out_edges, validation_edges, bipartite, users, items, columns and counts belong to edges; a file "
             "and "
             "synthetic links define all of these";
    if (!p.bipartite && p.items > 0) return "items belong to users; of a plain graph (bipartite: false) give users";
    if (p.tuning && p.file.empty() && p.validation_edges.empty())
      return "tuning needs validation links; give a file that has some, or validation_edges";
    if (p.tuning && p.train_on_validation.value_or(false))
      return "train_on_validation trains on the links that tuning predicts; remove one of the two";
    return {};
  });
}

static LinkGraphPtr graph_of(const LinkSet::Params& p) {
  LinkParts parts;
  if (p.made) {
    parts.source = "made";
    parts.users = p.made->users;
    parts.items = p.made->items;
    parts.training = draw_links(*p.made);
  } else if (!p.file.empty()) {
    parts = read_links(p.file, p.tuning);
  } else {
    parts = read_link_lines({p.edges, p.held_out_edges, p.bipartite, p.users, p.items, p, p.validation_edges});
  }
  if (p.train_on_validation && parts.validation.empty())
    throw KeyError(
        "links.train_on_validation", "train_on_validation",
        fmt::format("{}: there are no validation links; remove train_on_validation, or give some", parts.source));
  use_validation(parts, p.tuning                 ? ValidationUse::predict
                        : !p.train_on_validation ? ValidationUse::as_given
                        : *p.train_on_validation ? ValidationUse::train
                                                 : ValidationUse::apart);
  parts.share = p.hold_out;
  parts.seed = static_cast<std::uint64_t>(p.seed);
  return make_links(std::move(parts));
}

void LinkSet::open(Context& context) {
  LinkSamples samples;
  io::on_every_rank(context.comm, [&] {
    samples.graph = graph_of(params_);
    samples.held_out = params_.held_out;
    samples.users = users_of(samples.links());
    if (samples.users.empty())
      throw KeyError(
          "links.hold_out", "hold_out",
          fmt::format("{}: no link is held out; raise hold_out, or give held_out_edges", samples.graph->source));
  });
  if (!params_.held_out)
    report(*samples.graph, context.log);
  else
    say_notes(samples.graph->notes, context.log);
  samples_ = make_storage(std::move(samples));
}

std::vector<train::SamplePtr> LinkSet::read(std::span<const std::int64_t> ids) {
  std::vector<train::SamplePtr> out;
  out.reserve(ids.size());
  for (const auto id : ids) {
    auto sample = std::make_shared<train::Sample>();
    const auto k = static_cast<std::size_t>(id);
    sample->id = id;
    sample->storage = samples_;
    sample->bytes = 8;
    sample->fields["user"] = io::tensor_of(&samples_->users[k], {});
    sample->fields["item"] = io::tensor_of(&samples_->links().column[k], {});
    out.push_back(std::move(sample));
  }
  return out;
}

}  // namespace cambium::graph
