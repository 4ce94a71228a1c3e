/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BACKEND_GPU_H
#define KERNELS_BACKEND_GPU_H

#include "kernels/backend.h"

/*
 * Devices with a memory of their own. One source, gpu.inc, is compiled for each, below a file
 * that supplies the words it is written in (gpu_cuda.inc, gpu_hip.inc; for the emulated device
 * tests/emu/words.inc). The functions exist where the build has the device.
 */

/* What a call of a device returns, in place of another text, where there was too little memory:
 * known by its address. */
extern const char gpu_no_memory[];

/** Make a backend on a CUDA device. The thread that does so is the one that computes there.
 * @return 0, ERR_DEVICE, ERR_UNSUPPORTED or ERR_MEMORY */
int cuda_backend_create(const struct backend_options *options, struct backend **out);

/** CUDA devices that this process is shown. @return 0, or ERR_DEVICE when there is none */
int cuda_device_count(int *count);

/** One of them, without taking it. @return 0 or ERR_DEVICE */
int cuda_describe(int device, struct backend_device *out);

/** Bytes of a backend's device that nobody has taken. @return 0 or ERR_DEVICE */
int cuda_device_left(struct backend *be, size_t *bytes);

/** The library of its transforms, "cuFFT". @return NULL where the build has none */
const char *cuda_fft_library(void);

/** What a plan takes besides its rows (backend_fft_bytes). @return 0, ERR_DEVICE, ERR_MEMORY */
int cuda_fft_bytes(const struct fft_shape *shape, size_t *bytes);

/** The same on a HIP device. */
int hip_backend_create(const struct backend_options *options, struct backend **out);

/** HIP devices that this process is shown. */
int hip_device_count(int *count);

/** One of them. */
int hip_describe(int device, struct backend_device *out);

/** Bytes of a backend's device that nobody has taken. */
int hip_device_left(struct backend *be, size_t *bytes);

/** "hipFFT" or "VkFFT"; NULL where the build has neither. */
const char *hip_fft_library(void);

/** What a plan takes besides its rows. */
int hip_fft_bytes(const struct fft_shape *shape, size_t *bytes);

/** The same on the emulated device, in programs of tests/emu alone. */
int emu_backend_create(const struct backend_options *options, struct backend **out);

/** Emulated devices that this process is shown. */
int emu_device_count(int *count);

/** One of them. */
int emu_describe(int device, struct backend_device *out);

/** Bytes of a backend's device that nobody has taken. */
int emu_device_left(struct backend *be, size_t *bytes);

/** "FFTW". */
const char *emu_fft_library(void);

/** What a plan takes besides its rows, as the environment has it. */
int emu_fft_bytes(const struct fft_shape *shape, size_t *bytes);

/** Set the entries of strict.def, which a file of their own holds (numerics.md §3). */
void cuda_strict_fill(struct kernel_table *table);

/** The same for HIP. */
void hip_strict_fill(struct kernel_table *table);

#endif
