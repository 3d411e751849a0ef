#pragma once
#include <string>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/plugin/command.hpp"
#include "plugins/deepmd/data/extxyz_keys.hpp"
#include "plugins/deepmd/data/labelled_data.hpp"
#include "plugins/deepmd/engine/engine.hpp"

namespace cambium::deepmd {

/// Human-readable summary of a model file: species, descriptor, networks, parameters, tables.
std::string show_model(const std::string& path);

/// Options of the tools that evaluate models.
struct ToolOptions {
  std::string model;
  EnginePrecision precision = EnginePrecision::float64;
  double compress = 0.0;  ///< tolerance; 0: as the file is
  std::vector<double> fparam, aparam;
};

struct EvalOptions : ToolOptions {
  std::string structure;    ///< extended XYZ, POSCAR or gen file, dump or data file of LAMMPS, or a system
  LammpsKeys lammps;        ///< of files of LAMMPS
  std::int64_t frame = -1;  ///< of an extended XYZ file or a dump, from 0; negative from the end
  std::string output;       ///< extended XYZ file with forces, not for a system; empty: none
};
/// Energies, pressure and largest force of a file's frame or of every frame of a system, as text.
std::string evaluate_files(const EvalOptions& options, const Comm& comm);

struct CompressOptions {
  std::string model, output;  ///< .dp or .yaml
  double tolerance = 1e-8;
  double r_min = 0.0;  ///< Å; 0: the model's min_distance, or 0.8 Å
};
/// Writes the model with tables of its embedding networks (as DeePMD-kit's compressed models hold them); returns the
/// measured errors as text.
std::string compress_model(const CompressOptions& options);

/// Root mean square and mean absolute errors over the frames of one system; negative if nothing was compared.
struct Errors {
  std::size_t frames = 0;
  double energy_rmse = -1.0, energy_mae = -1.0;  ///< eV/atom
  double force_rmse = -1.0, force_mae = -1.0;    ///< eV/Å, per component
  double virial_rmse = -1.0, virial_mae = -1.0;  ///< eV/atom, per component
};
struct TestOptions : ToolOptions {
  std::vector<std::string> systems;  ///< systems of DeePMD-kit, folders and HDF5 files of such, extended XYZ, dumps
  LammpsKeys lammps;                 ///< of the dumps
  std::size_t most_frames = 0;       ///< of each system; 0: all
  ExtxyzKeys labels;                 ///< of the XYZ files
  std::string parity;                ///< folder for parity tables of all frames; empty: none
};
struct TestReport {
  std::vector<Errors> systems;
  Errors all;  ///< every frame of every system weighted alike
  std::string text;
};
/// Collective. Frames of several systems are numbered consecutively from 0 in the parity tables. A system that is named
/// twice counts once, and the text says so.
TestReport test_model(const TestOptions& options, const Comm& comm = Comm(MPI_COMM_SELF));

struct ConvertOptions {
  std::string input, output;  ///< input.json of DeePMD-kit; deck, or empty: returned as text
};
/// Deck for a training input of DeePMD-kit: its keys and defaults, se_e2_a and se_e2_r. Settings that are not
/// converted, or converted differently, are listed in comments at the top. InputError for another descriptor, loss or
/// rate.
std::string deck_of_input(const std::string& path);
std::string convert_input(const ConvertOptions& options);

struct NeighbourOptions {
  std::vector<std::string> systems, type_map;
  LammpsKeys lammps;
  double rcut = 6.0;  ///< Å
};
/// Smallest distance and most neighbours by species in labelled systems, as `dp neighbor-stat` prints them. A system
/// that is named twice counts once, and the text says so.
std::string neighbour_statistics(const NeighbourOptions& options);

struct DeviationOptions {
  std::vector<std::string> models;
  std::string system;
  LammpsKeys lammps;
  std::string output = "model_devi.out";
};
/// Deviation of models on every frame of a system, in the columns of `dp model-devi`; returns a line about the file.
std::string write_model_deviation(const DeviationOptions& options);

/// `cambium deepmd show|eval|compress|test|convert-input|neighbor-stat|model-devi`.
std::vector<Command> model_commands();

}  // namespace cambium::deepmd
