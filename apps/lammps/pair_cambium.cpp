#include "apps/lammps/pair_cambium.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <numeric>

#include "atom.h"
#include "citeme.h"
#include "comm.h"
#include "domain.h"
#include "error.h"
#include "force.h"
#include "lammps.h"
#include "memory.h"
#include "neighbor.h"
#include "update.h"

namespace LAMMPS_NS {

using cambium::lammps::HostArrays;
using cambium::lammps::HostExchange;
using cambium::lammps::HostResults;
using cambium::lammps::PotentialBridge;

PairCambium::PairCambium(LAMMPS* lmp) : Pair(lmp) {
  single_enable = 0;
  restartinfo = 0;  // the model file is not part of the restart; a restarted run names it again
  one_coeff = 1;
  manybody_flag = 1;
  no_virial_fdotr_compute = 1;
  centroidstressflag = CENTROID_AVAIL;
  comm_forward = 1;
  comm_reverse = comm_reverse_off = 9;
}

PairCambium::~PairCambium() {
  if (!allocated) return;
  memory->destroy(setflag);
  memory->destroy(cutsq);
}

template <class Work>
void PairCambium::guarded(Work&& work) {
  try {
    work();
  } catch (const std::exception& problem) {
    error->one(FLERR, std::string("pair_style cambium: ") + problem.what());
  }
}

void PairCambium::allocate() {
  const int n = atom->ntypes + 1;
  memory->create(setflag, n, n, "pair:setflag");
  memory->create(cutsq, n, n, "pair:cutsq");
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) setflag[i][j] = 0;
  allocated = 1;
}

/// LAMMPS' own formatting would need its copy of fmt: its functions are given finished strings.
void PairCambium::refuse(const std::string& text) { error->all(FLERR, text); }

void PairCambium::settings(int count, char** words) {
  if (std::strcmp(update->unit_style, "metal") != 0)
    refuse(std::string("pair_style cambium works in Å, eV and ps: begin the input with `units metal` (it has `units ") +
           update->unit_style + "`)");
  const std::vector<std::string> given(words, words + count);
  const bool typed = !given.empty() && given[0] != "deviation";
  if (typed) type_ = given[0];
  const std::size_t rest = typed ? 1 : 0;
  if (given.size() == rest) return;
  if (given.size() != rest + 3 || given[rest] != "deviation")
    refuse(
        "pair_style cambium takes the type of the potential (deep_potential when absent) and, for a committee, "
        "`deviation FILE EVERY`; the potential's keys go into pair_coeff");
  deviation_file_ = given[rest + 1];
  deviation_every_ = utils::inumeric(FLERR, given[rest + 2].c_str(), false, lmp);
  if (deviation_every_ < 1)
    refuse("pair_style cambium: deviation " + deviation_file_ + " " + given[rest + 2] +
           " is written every EVERY steps; give a number above zero");
}

/// "{...}" is taken as it is; otherwise the words are files of the potential, several being a committee. Those of a
/// deep_potential run the fast way: tables of the embedding networks, the others in float32 (the test system.lammps
/// holds the stated error).
std::string PairCambium::keys_of(const std::vector<std::string>& words) const {
  if (words.size() == 1 && words[0].rfind("{", 0) == 0) return words[0];
  if (words.empty()) return "{}";
  std::string keys = "{" + PotentialBridge::key_of_file(type_) + ": '" + words[0] + "'";
  for (std::size_t k = 1; k < words.size(); ++k) keys += (k == 1 ? ", committee: ['" : ", '") + words[k] + "'";
  return keys + (words.size() > 1 ? "]" : "") +
         (type_ == "deep_potential" ? ", compress: 1e-8, precision: mixed}" : "}");
}

void PairCambium::coeff(int count, char** words) {
  const int types = atom->ntypes;
  if (count < 2 + types || std::strcmp(words[0], "*") != 0 || std::strcmp(words[1], "*") != 0)
    refuse("pair_coeff for cambium is `pair_coeff * * MODEL SPECIES...` with one species (or NULL) for each of the " +
           std::to_string(types) + " atom types, as in `pair_coeff * * water.dp O H`");
  if (!allocated) allocate();
  symbols_.clear();
  for (int t = 0; t < types; ++t) {
    const std::string word = words[count - types + t];
    symbols_.push_back(word == "NULL" ? std::string() : word);
  }
  const std::vector<std::string> model(words + 2, words + count - types);
  guarded([&] { bridge_ = std::make_unique<PotentialBridge>(type_, keys_of(model), world); });
  int set = 0;
  for (int i = 1; i <= types; ++i)
    for (int j = i; j <= types; ++j) {
      setflag[i][j] = !symbols_[i - 1].empty() && !symbols_[j - 1].empty();
      set += setflag[i][j];
    }
  if (set == 0) refuse("pair_coeff for cambium: every type is NULL; name the species of at least one");
}

void PairCambium::bind() {
  std::vector<double> masses(symbols_.size(), 0.0);
  for (std::size_t t = 0; t < symbols_.size(); ++t)
    if (atom->mass && atom->mass_setflag[t + 1]) masses[t] = atom->mass[t + 1];
  guarded([&] { bridge_->bind(symbols_, masses); });
}

void PairCambium::init_style() {
  const auto types = static_cast<std::size_t>(atom->ntypes) + 1;
  covers_.assign(types * types, 0);  // init_one() follows for the pairs of types that are this style's
  types_.clear();
  if (neighbor->includegroup)
    refuse(
        "pair_style cambium acts on all atoms of its types, and `neigh_modify include` leaves it those of a group: "
        "take "
        "it out of the input, or give the others a type of their own, with NULL in pair_coeff");
  bind();  // there is a bridge: LAMMPS refuses a pair style without pair_coeff before it comes here
  if (!deviation_file_.empty() && !bridge_->is_committee())
    refuse("pair_style cambium: deviation " + deviation_file_ +
           " needs a committee: name two models or more in pair_coeff");
  guarded([&] {
    bridge_->refuse_open_boundaries(domain->xperiodic != 0 && domain->yperiodic != 0 && domain->zperiodic != 0);
  });
  const std::string works = bridge_->citations();
  if (lmp->citeme && !works.empty()) lmp->citeme->add(works);
  if (bridge_->writes_ghost_forces() && !force->newton_pair)
    refuse("pair_style cambium: " + bridge_->type() +
           " adds forces to ghost atoms; use `newton on`, which is the default");
  if (comm->me == 0) {
    utils::logmesg(lmp, "pair_style cambium: " + bridge_->summary() + "\n");
  }
  // Cambium keeps its own full list, rebuilt whenever LAMMPS reorders its atoms: no list is requested.
}

double PairCambium::init_one(int i, int j) {
  const int types = atom->ntypes + 1;
  covers_[i * types + j] = covers_[j * types + i] = 1;
  return bridge_->cutoff();
}

/// True if a style of a hybrid has pairs of types to which this one has species, too.
bool PairCambium::leaves_out_types() const {
  const int types = atom->ntypes;
  for (int i = 1; i <= types; ++i)
    for (int j = 1; j <= types; ++j)
      if (setflag[i][j] && !covers_[i * (types + 1) + j]) return true;
  return false;
}

/// Pairs that LAMMPS' own lists leave out: pairs of types that are another style's, and those of `neigh_modify
/// exclude`, by which Monte Carlo moves take atoms away, too.
bool PairCambium::left_out(int i, int j) const {
  const int a = atom->type[i], b = atom->type[j];
  if (!covers_[a * (atom->ntypes + 1) + b]) return true;
  if (!neighbor->exclude) return false;
  if (neighbor->nex_type && neighbor->ex_type[a][b]) return true;
  const int* mask = atom->mask;
  for (int m = 0; m < neighbor->nex_group; ++m) {
    const int one = neighbor->ex1_bit[m], other = neighbor->ex2_bit[m];
    if ((mask[i] & one && mask[j] & other) || (mask[i] & other && mask[j] & one)) return true;
  }
  for (int m = 0; m < neighbor->nex_mol; ++m) {
    if (!(mask[i] & mask[j] & neighbor->ex_mol_bit[m])) continue;
    const bool same = atom->molecule[i] == atom->molecule[j];
    if (same == (neighbor->ex_mol_intra[m] != 0)) return true;
  }
  return false;
}

/// True if the interacting pairs may have changed: LAMMPS has new lists, or has changed types.
bool PairCambium::rows_changed() {
  const int rows = atom->nlocal + atom->nghost;
  const bool types =
      types_.size() != static_cast<std::size_t>(rows) || !std::equal(types_.begin(), types_.end(), atom->type);
  if (types) types_.assign(atom->type, atom->type + rows);
  const bool decide = neighbor->exclude || leaves_out_types() ||
                      std::find(symbols_.begin(), symbols_.end(), std::string()) != symbols_.end();
  return neighbor->ago == 0 || (types && decide);
}

/// A potential of Cambium has no factors for pairs of bonded atoms; LAMMPS' own lists would leave them out.
void PairCambium::refuse_weakened_bonds() {
  const double* factor = force->special_lj;
  if (atom->molecular == Atom::ATOMIC || (factor[1] == 1.0 && factor[2] == 1.0 && factor[3] == 1.0)) return;
  bool any = atom->molecular == Atom::TEMPLATE;
  for (int i = 0; i < atom->nlocal && !any; ++i)
    for (int k = 0; k < 3; ++k)
      any = any || (factor[k + 1] != 1.0 && atom->nspecial[i][k] > (k ? atom->nspecial[i][k - 1] : 0));
  if (!any) return;
  char given[100];
  std::snprintf(given, sizeof given, "%g %g %g", factor[1], factor[2], factor[3]);
  error->one(FLERR,
             std::string("pair_style cambium takes all pairs of atoms, bonded ones too, and special_bonds lj is ") +
                 given +
                 ": write `special_bonds lj/coul 1 1 1`, or, in a hybrid whose other styles need the factors, "
                 "`pair_modify pair cambium "
                 "special lj/coul 1 1 1`, for which LAMMPS requires 1e-20 instead of 0 in special_bonds");
}

bool PairCambium::deviation_due() const { return deviation_every_ > 0 && update->ntimestep % deviation_every_ == 0; }

/// One line in the columns of DeePMD-kit's `out_file`; the first call of a run begins the file or adds to it.
void PairCambium::write_deviation() {
  const auto d = bridge_->deviation();
  if (!d || comm->me != 0) return;
  FILE* file = std::fopen(deviation_file_.c_str(), deviation_begun_ ? "a" : "w");
  if (!file) error->one(FLERR, "pair_style cambium: cannot write '" + deviation_file_ + "': " + std::strerror(errno));
  if (!deviation_begun_)
    std::fprintf(file, "#%11s %18s %18s %18s %18s %18s %18s\n", "step", "max_devi_v", "min_devi_v", "avg_devi_v",
                 "max_devi_f", "min_devi_f", "avg_devi_f");
  deviation_begun_ = true;
  std::fprintf(file, "%12lld %18.9e %18.9e %18.9e %18.9e %18.9e %18.9e\n", static_cast<long long>(update->ntimestep),
               d->virial_max, d->virial_min, d->virial_rms, d->force_max, d->force_min, d->force_mean);
  std::fclose(file);
}

void PairCambium::compute(int eflag, int vflag) {
  ev_init(eflag, vflag);
  HostArrays in;
  in.nlocal = atom->nlocal;
  in.nghost = atom->nghost;
  in.room = atom->nmax;
  in.natoms = atom->natoms;
  in.position = in.nlocal + in.nghost ? atom->x[0] : nullptr;
  in.type = atom->type;
  in.skin = neighbor->skin;
  in.reordered = rows_changed();
  in.totals = eflag_either || vflag_either || deviation_due();  // a committee costs its size
  std::vector<std::int64_t> tags;
  if (in.reordered) {
    refuse_weakened_bonds();
    if (neighbor->exclude || leaves_out_types()) in.left_out = [this](int i, int j) { return left_out(i, j); };
    tags.assign(atom->tag, atom->tag + in.nlocal + in.nghost);
    in.tag = tags.data();
  }
  const double cell[6] = {domain->xprd, domain->yprd, domain->zprd, domain->xy, domain->xz, domain->yz};
  std::copy(cell, cell + 6, in.cell);
  std::copy(domain->boxlo, domain->boxlo + 3, in.corner);

  HostExchange exchange;
  exchange.forward = [this](double* values) {
    exchanged_ = values;
    width_ = 1;
    comm->forward_comm_pair(this);
  };
  exchange.reverse = [this](double* values, int width) {
    exchanged_ = values;
    width_ = width;
    comm->reverse_comm_pair(this);
  };
  HostResults out;
  out.force = in.nlocal + in.nghost ? atom->f[0] : nullptr;
  out.per_atom = eflag_atom || vflag_atom || cvflag_atom;
  guarded([&] { bridge_->compute(in, exchange, out); });
  tally(out);
  if (deviation_due()) write_deviation();
}

void PairCambium::tally(const HostResults& out) {
  constexpr int voigt[6] = {0, 4, 8, 1, 2, 5};              // xx, yy, zz, xy, xz, yz
  constexpr int centroid[9] = {0, 4, 8, 1, 2, 5, 3, 6, 7};  // and yx, zx, zy
  if (eflag_global) eng_vdwl += out.energy;
  if (vflag_global)
    for (int c = 0; c < 6; ++c) virial[c] += out.virial[voigt[c]];
  if (!out.per_atom) return;
  const int owned = atom->nlocal, all = owned + (force->newton_pair ? atom->nghost : 0);
  if (eflag_atom)
    for (int i = 0; i < owned; ++i) eatom[i] += out.atom_energy[i];
  for (int i = 0; i < all; ++i) {
    const double* w = out.atom_virial.data() + static_cast<std::size_t>(i) * 9;
    if (vflag_atom)
      for (int c = 0; c < 6; ++c) vatom[i][c] += w[voigt[c]];
    if (cvflag_atom)
      for (int c = 0; c < 9; ++c) cvatom[i][c] += w[centroid[c]];
  }
}

int PairCambium::pack_forward_comm(int n, int* rows, double* buffer, int, int*) {
  for (int k = 0; k < n; ++k) buffer[k] = exchanged_[rows[k]];
  return n;
}

void PairCambium::unpack_forward_comm(int n, int first, double* buffer) {
  std::copy(buffer, buffer + n, exchanged_ + first);
}

int PairCambium::pack_reverse_comm(int n, int first, double* buffer) {
  std::copy(exchanged_ + first * width_, exchanged_ + (first + n) * width_, buffer);
  return n * width_;
}

void PairCambium::unpack_reverse_comm(int n, int* rows, double* buffer) {
  for (int k = 0; k < n; ++k)
    for (int c = 0; c < width_; ++c) exchanged_[rows[k] * width_ + c] += *buffer++;
}

}  // namespace LAMMPS_NS
