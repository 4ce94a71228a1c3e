/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_IONISATION_H
#define KERNELS_MODELS_PULSE_IONISATION_H

#include <stdbool.h>

#include "kernels/models/pulse/gas.h"

/*
 * Ionisation rates of a gas in a field (physics.md §4), as formulas; rate_table.h tabulates
 * them for the plasma column. ADK: Ammosov, Delone and Krainov, Sov. Phys. JETP 64, 1191
 * (1986). PPT: Perelomov, Popov and Terent'ev, Sov. Phys. JETP 23, 924 (1966).
 */

/* Formulas. */
enum rate_kind { RATE_ADK, RATE_PPT };

/* Which rate. */
struct rate_request {
    enum rate_kind kind;
    enum gas gas;
    double occupancy;   /* electrons that can leave: factor on the rate, > 0 */
    bool cycle_average; /* mean over an optical cycle of that amplitude, else quasi-static */
    double adk_floor;   /* ADK: exponents (4/3) wp/wt from here on give no rate (the fixtures:
                           700);   0: none, what double precision can hold */
    double wavelength;  /* PPT: m */
    bool stark;         /* PPT: second-order Stark shift of the potential */
    bool dipole;        /* PPT: correction for the polarisability of the ion */
};

/* A rate, resolved. Plain data. */
struct ionisation {
    struct rate_request request;
    double barrier;   /* field of barrier suppression Ip^2/(4 Z), V/m */
    double ceiling;   /* 2 barrier: above it the rate is that of the ceiling, V/m */
    double threshold; /* no rate at or below, V/m; 0: at every field above 0 */
    double potential; /* Ip, Hartree */
    double shift; /* Stark: half the difference of the polarisabilities, atomic units; or 0 */
    double weakening; /* dipole: twice the ion's polarisability, atomic units; or 0 */
    double omega;     /* PPT: carrier, atomic units */
    double z;
    int l;
};

/**
 * Resolve a rate.
 *
 * @return 0, ERR_UNSUPPORTED (a gas without ionisation potential, or without quantum numbers
 * for PPT: the line offers ADK) or ERR_ARGUMENT (occupancy, floor or wavelength out of range)
 */
int ionisation_init(struct ionisation *out, const struct rate_request *request);

/**
 * Rate at a field amplitude, 1/s.
 *
 * @param field     |E|, V/m, >= 0
 * @param saturated receives whether the field lies above the ceiling; NULL: not wanted. It
 * never fails: a trial step may well ask for too much.
 */
double ionisation_rate(const struct ionisation *rate, double field, bool *saturated);

/**
 * ln of the rate, in 1/s, neither floored nor saturated.
 *
 * @param field |E|, V/m, > 0
 */
double ionisation_log_rate(const struct ionisation *rate, double field);

/**
 * Number of photons that ionisation takes, PPT: (Ip + Up)/(hbar omega). A rate has a cusp where
 * it is whole and a channel closes.
 */
double ionisation_photons(const struct ionisation *rate, double field);

/**
 * ionisation_log_rate of PPT where it takes a number of photons, above that of no field:
 * without the rounding of that number, which close to a closing is that of a square root.
 */
double ionisation_log_rate_at(const struct ionisation *rate, double number);

/**
 * Field of a number of photons, the inverse of ionisation_photons, V/m; 0 at or below that of
 * no field.
 */
double ionisation_field(const struct ionisation *rate, double number);

/**
 * ADK in three numbers: ln W = out[0] + out[1] ln E - out[2]/E, E in V/m.
 *
 * @return 0, or ERR_BUG for another formula
 */
int ionisation_adk(const struct ionisation *rate, double out[3]);

#endif
