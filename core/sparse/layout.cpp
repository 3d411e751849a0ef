#include "core/sparse/layout.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/error.hpp"

namespace cambium::sparse {

using Codec = lowp::WireCodec;

std::string name_of(Scheme scheme) {
  switch (scheme) {
    case Scheme::rows:
      return "rows";
    case Scheme::needed_rows:
      return "needed_rows";
    case Scheme::rows_1_5d:
      return "rows_1_5d";
    case Scheme::grid_2d:
      return "grid_2d";
    default:
      return "grid_3d";
  }
}

bool fits(const LayoutKeys& keys, int ranks) {
  const auto is_power = [&](int root, int of) { return std::lround(std::pow(root, of)) == ranks; };
  switch (keys.scheme) {
    case Scheme::rows_1_5d:
      return ranks % keys.copies == 0 && ranks / keys.copies >= keys.copies;
    case Scheme::grid_2d:
      return is_power(static_cast<int>(std::lround(std::sqrt(ranks))), 2);
    case Scheme::grid_3d:
      return is_power(static_cast<int>(std::lround(std::cbrt(ranks))), 3);
    default:
      return ranks >= 1;
  }
}

void require_ranks(const LayoutKeys& keys, int ranks) {
  if (fits(keys, ranks)) return;
  int below = ranks, above = ranks;
  while (below > 0 && !fits(keys, below)) --below;
  while (!fits(keys, above)) ++above;
  std::string needs;
  if (keys.scheme == Scheme::rows_1_5d)
    needs = fmt::format("with replication: {} needs a multiple of {} ranks, at least {}", keys.copies, keys.copies,
                        keys.copies * keys.copies);
  else
    needs = fmt::format("needs a {} as number of ranks", keys.scheme == Scheme::grid_2d ? "square" : "cube");
  throw InputError(fmt::format(
      "layout {} {}, and {} run; start {}, or choose layout: needed_rows, which takes any number", name_of(keys.scheme),
      needs, ranks, below > 0 ? fmt::format("{} or {}", below, above) : fmt::format("{}", above)));
}

std::vector<Citation> Layout::citations() const {
  return {{"Tripathy2020CAGNET",
           "@inproceedings{Tripathy2020CAGNET,\n"
           "  author = {Alok Tripathy and Katherine Yelick and Ayd{\\i}n Bulu{\\c{c}}},\n"
           "  title = {Reducing Communication in Graph Neural Network Training},\n"
           "  booktitle = {SC20: International Conference for High Performance Computing, Networking, Storage and "
           "Analysis},\n"
           "  year = {2020},\n"
           "  doi = {10.1109/SC41405.2020.00074}\n}\n"}};
}

template <class P>
static void describe_codec(deck::Describe<P>& d) {
  d("codec", &P::codec,
    "codec of rows sent between ranks: bf16; int8, 8 bits in groups of 128 with a scale each; int4, 4 bits after a "
    "randomised Hadamard transform; none sends the network's precision")
      .options({{"none", Codec::none}, {"bf16", Codec::bf16}, {"int8", Codec::int8}, {"int4", Codec::int4}})
      .def(Codec::none);
}

void RowLayoutParams::describe(deck::Describe<RowLayoutParams>& d) {
  describe_codec(d);
  d("ordered", &RowLayoutParams::ordered,
    "deterministic summation in node order: results on any number of ranks are bitwise identical to those of one rank")
      .def(false);
  d.check([](const RowLayoutParams& p) -> std::string {
    if (p.ordered && p.codec != Codec::none)
      return "codec rounds the rows of other ranks only, and 'ordered' guarantees results bitwise identical to one "
             "rank; remove one of "
             "them";
    return "";
  });
}

void CopiedRowsLayout::Params::describe(deck::Describe<Params>& d) {
  d("replication", &Params::copies,
    "replication factor: ranks that hold the same rows and divide the work of a product; the number of ranks must be a "
    "multiple of it, and at least its square")
      .formerly("copies")
      .at_least(1)
      .def(2);
  describe_codec(d);
}

void GridLayoutParams::describe(deck::Describe<GridLayoutParams>& d) { describe_codec(d); }

/// A dry run may have another number of ranks than the actual run.
static LayoutKeys checked(const LayoutKeys& keys, const Context& context) {
  if (!context.dry_run) require_ranks(keys, context.comm.size());
  return keys;
}

RowsLayout::RowsLayout(const Params& params, Context& context)
    : Layout(checked({Scheme::rows, 1, params.codec, params.ordered}, context)) {}
NeededRowsLayout::NeededRowsLayout(const Params& params, Context& context)
    : Layout(checked({Scheme::needed_rows, 1, params.codec, params.ordered}, context)) {}
CopiedRowsLayout::CopiedRowsLayout(const Params& params, Context& context)
    : Layout(checked({Scheme::rows_1_5d, params.copies, params.codec, false}, context)) {}
Grid2dLayout::Grid2dLayout(const Params& params, Context& context)
    : Layout(checked({Scheme::grid_2d, 1, params.codec, false}, context)) {}
Grid3dLayout::Grid3dLayout(const Params& params, Context& context)
    : Layout(checked({Scheme::grid_3d, 1, params.codec, false}, context)) {}

}  // namespace cambium::sparse
