"""3ds Max as a host: inside 3ds Max, and under ``3dsmaxbatch``."""
